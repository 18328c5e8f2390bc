#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crosstalk diff compares two reports, and pools runs first; it passes on the findings and the exit code of
interference diff."""
import json
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from tried_runs import BIN, Runs, report_of

if not all((BIN / name).exists() for name in ("crosstalk", "ddl-train", "noisegen", "interference")):
    print("skipped: not all programs were built")
    sys.exit(77)
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # leaks of MPI's plug-ins
wrong = []


def check(sentence, holds, said=""):
    if not holds:
        wrong.append(f"not true: {sentence} {said}")


with tempfile.TemporaryDirectory() as folder:
    runs = Runs(folder)
    diff = lambda *words: runs.call("crosstalk", "diff", *words)

    def refused(code, words, *arguments):
        done = diff(*arguments)
        check(f"{arguments} is refused", done.returncode == code and words in done.stderr, f"{done.returncode} {done.stderr}")
        check("in one line", done.stderr.count("\n") == 1, done.stderr)

    slow, fast = report_of(runs, "slow", 4.0), report_of(runs, "fast", 1.0)
    better = diff(slow, fast, "--fail-on", "worse", "--out", runs.directory / "out")
    check("a better one ends with 0", better.returncode == 0, better.stderr)
    check("the answer is a sentence",
          better.stdout.startswith("After the change memory.stream costs 3.00 points less (1.59 to 4.41)\n"), better.stdout)
    check("the table is there", (runs.directory / "out/diff.csv").exists())
    worse = diff(fast, slow, "--fail-on", "worse", "--format", "md")
    check("a worse one ends with 1", worse.returncode == 1 and "memory.stream is worse" in worse.stderr, worse.stderr)
    check("it prints Markdown", worse.stdout.startswith("## After the change memory.stream costs 3.00 points more"))
    refused(2, "are the same run", slow, slow)
    refused(2, "give both sides", slow)
    refused(2, "give both sides")
    refused(2, "give both sides", slow, "--before", slow, "--after", fast)
    refused(2, "give both sides", "--before", slow)
    refused(2, "no directory", slow, runs.directory / "none")
    refused(2, "already there", slow, fast, "--out", runs.directory / "out")
    refused(2, "worse", slow, fast, "--fail-on", "better")

    with ThreadPoolExecutor() as pool:
        made = list(pool.map(runs.run, ("a", "b", "c", "d")))
    pooled = diff("--before", *made[:2], "--after", *made[2:], "--format", "json")
    # A busy machine may spoil a run, which crosstalk diff then refuses in one line.
    if pooled.returncode == 0:
        found = json.loads(pooled.stdout)
        check("sets are pooled", found["before"]["runs"] == 2 and found["after"]["runs"] == 2, pooled.stdout)
        check("of the noise that all have", found["noises"][0]["noise"] == "cpu.spin", pooled.stdout)
        check("and that it is of one run is no limit", not any("one run" in limit for limit in found["limits"]))
    else:
        check("what cannot be trusted is refused", pooled.returncode == 2 and "not trustworthy" in pooled.stderr, pooled.stderr)
    refused(2, "are the same run: each counts once", "--before", made[0], made[0], "--after", *made[2:])
    refused(1, "no directory", "--before", made[0], runs.directory / "none", "--after", *made[2:])
    check("nothing is left in the runs", not any((run / "report").exists() for run in made))
print("\n".join(wrong) or "all differences are found")
sys.exit(1 if wrong else 0)
