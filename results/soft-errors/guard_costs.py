#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What guards cost a training, in quiet and beside memory.stream on the CPUs that it leaves.

    guard_costs.py [DIR]    makes the runs in DIR (default build/guard-costs, which must not exist), and puts
                            guard_costs.csv beside this script

Null trials of each guard and of none, in random order within blocks, alternately in trainings with noise and in
trainings without. Half of the CPUs train, with a rank each, and the others make noise. RESULTS=FOLDER puts the table
elsewhere; CROSSTALK_BIN is the folder of the programs; MODEL another model; TURNS and BLOCKS scale it (4, 5).
"""
import contextlib
import csv
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
RESULTS = pathlib.Path(os.environ.get("RESULTS", HERE))
TURNS = int(os.environ.get("TURNS", "4"))
BLOCKS = int(os.environ.get("BLOCKS", "5"))  # in each run
STEPS = 20                                   # in a trial, and in an undisturbed training
NOISE = "memory.stream 1s"
CPUS = sorted(os.sched_getaffinity(0))
RANKS = max(1, len(CPUS) // 2)
GUARDS = ["none", "range", "checksum", "norm", "range+norm+checksum"] + (["replicas"] if RANKS > 1 else [])
TRAINING = ["--model", os.environ.get("MODEL", "mlp[hidden=1024]"), "--data", "digits", "--batch", "16",
            "--cpus", ",".join(map(str, CPUS[:RANKS]))]
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def ddl_train(*words: object) -> None:
    start = ["mpirun", "-n", str(RANKS), "--oversubscribe", "--bind-to", "none"] if RANKS > 1 else []
    subprocess.run([*start, str(BIN / "ddl-train"), *TRAINING, *map(str, words)], check=True, env=ENVIRONMENT,
                   stdout=subprocess.DEVNULL)


def write_trials(file: pathlib.Path) -> None:
    """Writes trials with each guard once per block, and a positive trial, which shows that alterations take effect."""
    order = random.Random(1)
    rows = [("positive", "none")]
    for _ in range(BLOCKS):
        rows += [("null", guard) for guard in order.sample(GUARDS, len(GUARDS))]
    with open(file, "w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow("trial,block,kind,step,location,bits,count,target,rank,guard,steps,seed".split(","))
        for number, (kind, guard) in enumerate(rows, start=1):
            table.writerow([f"t{number:03d}", 1, kind, 0, "", "", 1, "model", "all", guard, STEPS, 1])


@contextlib.contextmanager
def noise(run: pathlib.Path) -> Iterator[None]:
    """Runs noise on the CPUs that do not train, from before the training until after it; puts its record into `run`."""
    beside = run.with_name(run.name + "-noise")
    words = [str(BIN / "noisegen"), "--schedule", NOISE, "--duration", "1h", "--cpus", ",".join(map(str, CPUS[RANKS:])),
             "--out", str(beside)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        while not list(beside.glob("noise/*/noise.csv")):
            if process.poll() is not None:
                sys.exit("guard_costs: noisegen ended")
            time.sleep(0.05)
        try:
            yield
        finally:
            process.terminate()
    shutil.move(beside / "noise", run / "noise")


def cost(row: dict[str, str], name: str) -> str:
    if not row[f"{name}cost_percent"]:
        return "not known: fewer than two null trials"
    value, low, high = (float(row[f"{name}cost_{part}percent"]) for part in ("", "low_", "high_"))
    return f"{value:.1f} % ({low:.1f} to {high:.1f})"


def main() -> None:
    if len(CPUS) < 2:
        sys.exit("guard_costs: one CPU: no place for noise beside a training")
    scratch = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/guard-costs").resolve()
    scratch.mkdir(parents=True)
    trials = scratch / "trials.csv"
    write_trials(trials)
    seeds = [scratch / f"seed-{number}" for number in range(1, 9)]
    runs: list[pathlib.Path] = []
    for number, seed in enumerate(seeds, start=101):
        ddl_train("--steps", STEPS, "--seed", number, "--trace", "off", "--out", seed)
    for turn in range(1, TURNS + 1):
        quiet, noisy = scratch / f"quiet-{turn}", scratch / f"noisy-{turn}"
        for run in (quiet, noisy) if turn % 2 else (noisy, quiet):
            with noise(run) if run == noisy else contextlib.nullcontext():
                ddl_train("--trials", trials, "--out", run)
        runs += [quiet, noisy]
    words = [BIN / "interference", "outcomes", *runs, "--out", scratch / "report"]
    for seed in seeds:
        words += ["--band", seed]
    done = subprocess.run([str(word) for word in words], check=False, stdout=subprocess.DEVNULL)
    if done.returncode not in (0, 3):
        sys.exit("guard_costs: interference outcomes failed")
    RESULTS.mkdir(parents=True, exist_ok=True)
    shutil.copy(scratch / "report/guards.csv", RESULTS / "guard_costs.csv")
    with open(RESULTS / "guard_costs.csv", newline="", encoding="utf-8") as table:
        for row in csv.DictReader(table):
            if row["guard"] != "none":
                print(f"{row['guard']}: {cost(row, '')}; beside {row['noise']}: {cost(row, 'noisy_')}")


main()
