#!/usr/bin/env python3
"""What crosstalk-python costs a PyTorch training, and whether its steps are the script's own.

    pytorch_hooks.py [--pairs 15] [--seconds 10] [--csv FILE]

Runs python/tests/train_digits.py (two ranks, DistributedDataParallel over gloo, DataLoader with two workers) with and
without crosstalk-python in turns, in random order within each pair. A ratio is the mean step by the script's own timer
with hooks over that without. CROSSTALK_BIN names the folder of the programs."""

import argparse
import csv
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
TRAINING = [str(ROOT / "python/tests/train_digits.py"), str(ROOT / "ddl-workloads/data/digits/digits.csv.gz")]


def train(seconds, run, port):
    """Steps and mean step in ms as the script's rank 0 says."""
    environment = {**os.environ, "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1", "WORLD_SIZE": "2"}
    environment.setdefault("PYTHON", "/usr/bin/python3")
    environment.pop("CROSSTALK_OUT", None)
    start = [environment["PYTHON"]]
    if run:
        environment["CROSSTALK_OUT"] = str(run)
        start = [str(BIN / "crosstalk-python")]
    ranks = [
        subprocess.Popen(
            [*start, *TRAINING, str(seconds)], env={**environment, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    said = ranks[0].communicate()[0]
    if any([rank.wait() for rank in ranks]):
        sys.exit("pytorch_hooks.py: the training failed")
    found = re.search(r"(\d+) steps, ([0-9.]+) ms each", said)
    return int(found[1]), float(found[2])


def recorded(run):
    """Steps and mean step in ms as crosstalk-python recorded them of rank 0."""
    with open(run / "train/steps.csv", newline="", encoding="utf-8") as table:
        rows = [row for row in csv.DictReader(table) if row["rank"] == "0"]
    return len(rows), statistics.fmean((int(row["end_ns"]) - int(row["begin_ns"])) / 1e6 for row in rows)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--pairs", type=int, default=15)
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--csv", default="pytorch_hooks.csv")
    wanted = options.parse_args()
    order = random.Random(1)
    ratios = []
    with open(wanted.csv, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["pair", "load_average", "plain_ms", "hooked_ms", "ratio", "steps", "recorded_steps", "recorded_ms"])
        for pair in range(1, wanted.pairs + 1):
            results = {}
            with tempfile.TemporaryDirectory() as scratch:
                run = pathlib.Path(scratch) / "run"
                for number, hooked in enumerate(order.sample([True, False], 2)):
                    results[hooked] = train(wanted.seconds, run if hooked else None, 29700 + 2 * pair + number)
                recorded_steps, recorded_ms = recorded(run)
            steps, hooked_ms = results[True]
            ratios.append(hooked_ms / results[False][1])
            table.writerow([pair, os.getloadavg()[0], results[False][1], hooked_ms, f"{ratios[-1]:.5f}", steps,
                            recorded_steps, f"{recorded_ms:.4f}"])
            file.flush()
            print(f"pair {pair}: {ratios[-1]:.4f}; {steps} steps, {recorded_steps} recorded; "
                  f"{hooked_ms:.3f} ms, {recorded_ms:.3f} recorded", flush=True)
    # The interval of the median by order statistics: binomial(n, 1/2).
    ratios.sort()
    count = len(ratios)
    below = max((k for k in range(count // 2) if sum(math.comb(count, i) for i in range(k + 1)) / 2**count <= 0.025),
                default=0)
    print(f"median ratio {statistics.median(ratios):.4f} ({ratios[below]:.4f} to {ratios[-1 - below]:.4f}), {count} pairs")


if __name__ == "__main__":
    main()
