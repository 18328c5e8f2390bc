#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What docs/interference.md shows for pandas and R runs on a report, and comes to what the tables say.

    snippets_test.py python|r      exit code 77 where pandas, or R, is not there
"""
import csv
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from tried_runs import ROOT, Runs

INTERPRETERS = {"python": ["/usr/bin/python3", "python3"], "r": ["Rscript"]}


def interpreter(language: str) -> str | None:
    """An interpreter that can run the snippet."""
    for name in INTERPRETERS[language]:
        found = shutil.which(name)
        trial = ["-c", "import pandas"] if language == "python" else ["--version"]
        if found and subprocess.run([found, *trial], capture_output=True).returncode == 0:
            return found
    return None


def rows(file: pathlib.Path) -> list[dict[str, str]]:
    with open(file, encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


def expected(run: pathlib.Path) -> list[tuple[str, float]]:
    """The expected output for each factor: its effect on the step, and the mean step under it in ms."""
    effects = rows(run / "report/effects.csv")
    found = [(row["factor"], float(row["effect_percent"])) for row in effects
             if row["rank"] == "all" and row["phase"] == "step"]
    steps = {(row["rank"], row["step"]): (int(row["end_ns"]) - int(row["begin_ns"])) / 1e6
             for row in rows(run / "train/steps.csv")}
    exposure = [row for row in rows(run / "report/exposure.csv") if row["used"] == "1"]
    for factor in list(exposure[0])[5:]:
        under = [steps[row["rank"], row["step"]] for row in exposure if float(row[factor]) > 0.9]
        found.append((factor, statistics.fmean(under)))
    return found


def main() -> int:
    language = sys.argv[1]
    program = interpreter(language)
    if program is None:
        print(f"SKIPPED: {'pandas' if language == 'python' else 'Rscript'} is not there")
        return 77
    text = (ROOT / "docs/interference.md").read_text(encoding="utf-8")
    snippet = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(snippet) == 1, f"{len(snippet)} snippets of {language}"
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as directory:
        runs = Runs(directory)
        run = runs.run("DIR")
        if not (run / "train/steps.csv").exists():
            print("SKIPPED: ddl-train was not built")
            return 77
        if not (run / "report").exists():
            runs.call("interference", "analyse", "--draws", "199", run)
        file = pathlib.Path(directory) / f"snippet.{language}"
        file.write_text(snippet[0], encoding="utf-8")
        done = subprocess.run([program, file], cwd=directory, capture_output=True, text=True)
        print(done.stdout, done.stderr)
        assert done.returncode == 0
        for factor, value in expected(run):
            printed = [float(number) for line in done.stdout.splitlines() if factor in line.split()
                       for number in re.findall(r"-?\d+\.\d+", line)]
            assert any(abs(number - value) <= 0.006 for number in printed), f"{factor}: {value} is not in {printed}"
    return 0


if __name__ == "__main__":
    sys.exit(main())
