#!/usr/bin/env python3
"""clang-tidy on some sources, from a build by GCC: leaves out the options and precompiled headers that clang cannot read.

    tidy.py BUILD_FOLDER SOURCE...     findings on stdout; exit code 1 if there are any
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NOT_FOR_CLANG = (r" -(fpch-preprocess|Wno-restrict|Wno-maybe-uninitialized|Winvalid-pch|fsanitize=\S+|fno-sanitize=\S+"
                 r"|include \S*cmake_pch\S*)(?= )")


def main(build, *sources):
    commands = json.loads(pathlib.Path(build, "compile_commands.json").read_text())
    for command in commands:
        command["command"] = re.sub(NOT_FOR_CLANG, "", command["command"])
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps(commands))
        return subprocess.run(["clang-tidy", "-p", folder, "--quiet", *sources], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(1 if main(*sys.argv[1:]) else 0)
