#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Projections hold on real runs: from a training on two ranks, and on four, the step on one, two and four ranks is
projected, and set against trainings on as many.

The training's computing takes times that were drawn beforehand (an exponential part that all ranks share, and one of
each rank's own), so that a rank does the same in every run. Exit code 77 if the programs were not built."""
import csv
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
STEPS = 400
RANKS = (1, 2, 4)
WARM_UP = 10
NEAR = 0.1  # of the step


def draw(file: pathlib.Path) -> None:
    drawn = random.Random(5)
    with open(file, "w", newline="", encoding="utf-8") as table:
        rows = csv.writer(table)
        rows.writerow(["rank", "step", "forward_ns", "backward_ns"])
        for step in range(STEPS):
            shared = drawn.expovariate(1 / 2e6)
            for rank in range(max(RANKS)):
                rows.writerow([rank, step, int(4e6 + shared), int(8e6 + drawn.expovariate(1 / 4e6))])


def train(replay: pathlib.Path, ranks: int, out: pathlib.Path) -> float:
    """The mean step in ms."""
    subprocess.run(["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", BIN / "ddl-train",
                    "--model", f"emulated[replay={replay},gradients=64KiB,buckets=1]", "--data", "synthetic[samples=64]",
                    "--progress", "sleep", "--steps", str(STEPS), "--out", out],
                   check=True, stdout=subprocess.DEVNULL, timeout=240,
                   env={**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0"})
    with open(out / "train/steps.csv", newline="", encoding="utf-8") as table:
        steps = [int(row["end_ns"]) - int(row["begin_ns"]) for row in csv.DictReader(table) if int(row["step"]) >= WARM_UP]
    return sum(steps) / len(steps) / 1e6


def project(run: pathlib.Path, out: pathlib.Path) -> dict[int, float]:
    subprocess.run([BIN / "interference", "predict", run, "--ranks", "1..4", "--ranks-per-node", "4", "--out", out], check=True,
                   stdout=subprocess.DEVNULL, timeout=120)
    with open(out, newline="", encoding="utf-8") as table:
        return {int(row["ranks"]): float(row["step_ms"]) for row in csv.DictReader(table)}


def compared(folder: pathlib.Path) -> list[str]:
    """Names the projections that are not near the measured step."""
    draw(folder / "replay.csv")
    measured = {ranks: train(folder / "replay.csv", ranks, folder / f"on{ranks}") for ranks in RANKS}
    wrong = []
    for of in (2, 4):
        for ranks, step_ms in project(folder / f"on{of}", folder / f"from{of}.csv").items():
            said = f"from {of} ranks to {ranks}: {step_ms:.2f} ms projected, {measured[ranks]:.2f} ms measured"
            print(said)
            if abs(step_ms / measured[ranks] - 1) > NEAR:
                wrong.append(said)
    return wrong


def main() -> int:
    if not (BIN / "interference").exists() or not (BIN / "ddl-train").exists():
        print("SKIPPED: the programs were not built")
        return 77
    wrong: list[str] = []
    for _ in range(3):  # a machine that stalls for a moment makes any step longer
        with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as folder:
            wrong = compared(pathlib.Path(folder))
        if not wrong:
            return 0
    print("NOT TRUE: projections are near to what is measured", *wrong, sep="\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
