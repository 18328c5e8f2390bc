#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A build has the same answers as itself; a program that answers differently is named."""
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).parent / "same_answers.py"
BIN = pathlib.Path(os.environ["CROSSTALK_BIN"])
NEEDED = ["trace-synth", "trace-info", "trace-steps", "trace-waits", "trace-path", "trace-cube", "noisegen", "ddl-train",
          "interference"]

if not all((BIN / program).exists() for program in NEEDED):
    print("SKIPPED: not all programs are built")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    other = pathlib.Path(folder)
    for program in NEEDED:
        (other / program).symlink_to(BIN / program)
    (other / "trace-path").unlink()
    (other / "trace-path").write_text(f'#!/bin/sh\n"{BIN}/trace-path" "$@"\ncode=$?\necho one line more\nexit $code\n')
    (other / "trace-path").chmod(0o755)
    same = subprocess.run([SCRIPT, BIN, BIN, "--specs", "1"], capture_output=True, text=True)
    differs = subprocess.run([SCRIPT, BIN, other, "--specs", "1"], capture_output=True, text=True)
assert same.returncode == 0 and ": 0 answers differ" in same.stdout, same.stdout + same.stderr
named = [line for line in differs.stdout.splitlines() if not line.startswith(" ")]
assert differs.returncode == 1 and len(named) == 2, differs.stdout + differs.stderr
assert named[0].startswith("trace-path synth.0/traces.otf2") and "stdout differs" in named[0], named[0]
print("the program that differs was named")
