# SPDX-License-Identifier: Apache-2.0
"""Rows of the CSVs in this folder, with medians, intervals and quantiles."""
import argparse
import csv
import datetime
import math
import os
import pathlib
import statistics
from collections.abc import Iterable

COLUMNS = ["date", "machine", "load", "benchmark", "run", "case", "beside", "quantity", "unit", "value", "low", "high",
           "versions"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds --out, --machine and --load, whose defaults bench.py sets in the environment."""
    for option, variable, text in [("--out", "CSV", "a CSV of results/bench, to append to"),
                                   ("--machine", "MACHINE", "its name in results/bench/measurements.md"),
                                   ("--load", "LOAD", "what else runs: quiet")]:
        given = os.environ.get(f"CROSSTALK_BENCH_{variable}")
        parser.add_argument(option, type=pathlib.Path if option == "--out" else str, default=given, required=not given,
                            help=text)


def add_choice(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Adds --only, which takes some of these names, and --scratch."""
    known = list(names)

    def chosen(text: str) -> list[str]:
        if wrong := [name for name in text.split(",") if name not in known]:
            raise argparse.ArgumentTypeError(f"no part '{wrong[0]}' (there are {', '.join(known)})")
        return text.split(",")

    parser.add_argument("--only", type=chosen, default=known, metavar="PARTS", help=f"some of {','.join(known)}")
    parser.add_argument("--scratch", type=pathlib.Path, default=pathlib.Path("/var/tmp"),
                        help="scratch directory on the disk to stress")


def rounds(full: int) -> int:
    """Number of rounds: in a quick run fewer, but enough for an interval."""
    return min(full, 6) if os.environ.get("CROSSTALK_BENCH_QUICK") else full


def digits(value: float | None) -> str:
    """A number with four digits, for readers."""
    if value is None or not math.isfinite(value):
        return ""
    if value == 0.0:
        return "0"
    places = max(0, 3 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(places, 4)}f}"


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))]


def median_interval(values: list[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """The median and the order statistics around it that hold the true one so often (sign test); all of them if there
    are too few."""
    ordered = sorted(values)
    count = len(ordered)
    below = 0.0
    rank = 0
    for k in range(count // 2):
        below += math.comb(count, k) / 2.0**count
        if 2.0 * below > 1.0 - confidence:
            break
        rank = k + 1
    low = ordered[max(0, rank - 1)]
    high = ordered[count - max(1, rank)]
    return statistics.median(ordered), low, high


class Rows:
    """Appends to the CSV; its run number is one more than the last of that benchmark and day."""

    def __init__(self, path: pathlib.Path, benchmark: str, machine: str, load: str) -> None:
        self.path = path
        self.head = [datetime.date.today().isoformat(), machine, load, benchmark]
        kept: list[dict[str, str]] = []
        self.columns = COLUMNS
        if path.exists():
            with path.open(newline="", encoding="utf-8") as file:
                reader = csv.DictReader(file)
                kept = list(reader)
                self.columns = list(reader.fieldnames or COLUMNS)
        else:
            with path.open("w", newline="", encoding="utf-8") as file:
                csv.writer(file, lineterminator="\n").writerow(COLUMNS)
        runs = [int(row["run"]) for row in kept if row["benchmark"] == benchmark and row["date"] == self.head[0]]
        self.run = max(runs, default=0) + 1

    def add(self, case: str, beside: str, quantity: str, unit: str, value: float | str | None,
            low: float | None = None, high: float | None = None) -> None:
        text = value if isinstance(value, str) else digits(value)
        with self.path.open("a", newline="", encoding="utf-8") as file:
            row = [*self.head, self.run, case, beside, quantity, unit, text, digits(low), digits(high),
                   os.environ.get("CROSSTALK_BENCH_VERSIONS", "")]
            csv.writer(file, lineterminator="\n").writerow(row[:len(self.columns)])
