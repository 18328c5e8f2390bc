#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulated sets of runs, runs in parts and runs that end when all is decided keep what docs/statistics.md promises.

    studies_test.py EFFECTS_SIMULATION [REPETITIONS [differences]]

The bounds are those of the promise, and as much more as so many repetitions may be off by chance (three standard
errors)."""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile

program = sys.argv[1]
repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 100
wrong = []


def rows(study):
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "table.csv"
        subprocess.run([program, "--study", study, "--runs", str(repetitions), "--csv", table], check=True)
        return list(csv.DictReader(table.open()))


def chance(share):
    return 3 * math.sqrt(share * (1 - share) / repetitions)


def check(row, low, high):
    value = float(row["value"])
    if not low <= value <= high:
        wrong.append(f"{row['study']}, {row['effect_percent']} % +- {row['varies_percent']} %, {row['count']}: "
                     f"{row['quantity']} is {value:.3f}, not in {low:.3f} to {high:.3f}")


def check_differences():
    for row in rows("differences"):
        if row["quantity"] == "coverage of the difference":
            check(row, 0.92 - chance(0.95), 1.0)  # joined intervals cover more often with few runs
        else:
            check(row, 0.0, 0.05 + chance(0.05))


def end():
    print("\n".join(wrong) or "all as promised")
    sys.exit(1 if wrong else 0)


check_differences()
if sys.argv[3:] == ["differences"]:
    end()
for study in ("pooled", "extended", "sets"):
    for row in rows(study):
        if row["quantity"].startswith("coverage of the"):
            check(row, 0.92 - chance(0.95), min(1.0, 0.98 + chance(0.95)))
budget = 3.0
for row in rows("looking"):
    share = float(row["effect_percent"]) / budget
    if row["study"] != "until":
        continue
    if row["quantity"] in ("any called safe", "any called unsafe") and share == 1.0:
        check(row, 0.0, 0.05 + chance(0.05))
    if row["quantity"] == "share of the fixed length" and share == 2.0:
        check(row, 0.0, 0.6)
    if row["quantity"] == "share of the fixed length" and share == 0.5:
        check(row, 0.0, 0.6 + chance(0.5) / 2)
    if row["quantity"].startswith("the last open one"):
        check(row, 0.0, 0.05 + chance(0.05))
for row in rows("response"):
    if row["quantity"] == "break point within one level":
        check(row, 0.95 - chance(0.95), 1.0)
    if row["quantity"] == "coverage of the tolerated level":
        check(row, 0.94 - chance(0.94), 1.0)
    if row["quantity"] == "safe up to more than is tolerated":
        check(row, 0.0, 0.025 + chance(0.025))
for row in rows("alarms"):
    check(row, 0.0, 0.05 + chance(0.05))
estimates = {}  # of one run they have a standard deviation of 0.4 to 1 point
for row in rows("carry-over"):
    key = (row["count"], row["varies_percent"])
    if row["quantity"] == "mean estimate, percent":
        estimates[key] = float(row["value"])
    if row["quantity"] == "truth, percent" and abs(estimates[key] - float(row["value"])) > 0.05 + 3 / repetitions ** 0.5:
        wrong.append(f"carry-over of {row['value']} % came out as {estimates[key]} %")
    if row["quantity"] == "coverage of the carry-over":
        check(row, 0.92 - chance(0.95), min(1.0, 0.98 + chance(0.95)))
end()
