#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accuracy against run time of codes under the errors of CodeNet's paper (Dutta et al. 2019): each operation of a rank
alters 0.5 % of its block by up to 5, with probability 3e-4.

    accuracy.py DIR OUT     makes the runs in DIR, or continues with those that are there, and writes runs.csv,
                            accuracy.csv and accuracy.svg into OUT

All codes have eight ranks. CROSSTALK_BIN is the folder of the programs; SEEDS (3) and EPOCHS (6) scale the study.
"""
import csv
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
SEEDS = range(1, int(os.environ.get("SEEDS", "3")) + 1)
EPOCHS = os.environ.get("EPOCHS", "6")
RANKS = 8
ERRORS = "rate=3e-4,density=0.5%,amplitude=5,sites=forward+backward+update"
CODES = {  # strategy, whether there are errors
    "without errors": ("coded[code=uncoded,grid=4x2]", False),
    "uncoded": ("coded[code=uncoded,grid=4x2]", True),
    "replication": ("coded[code=replication,grid=2x2,copies=2]", True),
    "codenet": ("coded[code=codenet,grid=2x1,parity=2x2]", True),
}
TRAINING = ["--model", "mlp", "--data", "digits", "--batch", "32", "--lr", "0.01", "--checkpoint-every", "20",
            "--checkpoint-by", "sharded", "--checkpoint-format", "raw", "--checkpoint-keep", "1", "--trace", "off"]
EPOCH = re.compile(r"epoch (\d+): loss (\S+), accuracy on held-out samples (\S+) %")
GNUPLOT = """set terminal svg noenhanced size 900,420 dynamic font 'sans-serif,13'
set output 'accuracy.svg'
set datafile separator ','
set encoding utf8
set border 3 lw 0.7
set tics nomirror out scale 0.5
set xlabel 'run time, s'
set ylabel 'accuracy on held-out samples, %'
set yrange [*:100]
set key outside top center horizontal
name(n) = n == 1 ? 'without errors' : n == 2 ? 'uncoded' : n == 3 ? 'replication' : 'codenet'
colour(n) = n == 1 ? '#808080' : n == 2 ? '#d55e00' : n == 3 ? '#0072b2' : '#009e73'
plot for [n = 1 : 4] for [seed = 1 : SEEDS] 'accuracy.csv' skip 1 \\
     using (strcol(1) eq name(n) && $2 == seed ? $4 : NaN):($6) with linespoints pt 7 ps 0.35 lw 1.2 lc rgb colour(n) \\
     title (seed == 1 ? name(n) : '')
"""


def run(out, code, seed):
    """Trains, and notes when each epoch was evaluated: CLOCK_MONOTONIC, as in steps.csv."""
    strategy, errs = CODES[code]
    command = ["mpirun", "-n", str(RANKS), "--oversubscribe", "--bind-to", "none", str(BIN / "ddl-train"), *TRAINING,
               "--epochs", EPOCHS, "--seed", str(seed), "--strategy", strategy, "--out", str(out)]
    if errs:
        command += ["--soft-errors", f"{ERRORS},seed={seed}"]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    epochs = []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True) as training:
        for line in training.stderr:
            if found := EPOCH.search(line):
                epochs.append([time.monotonic_ns(), int(found[1]), float(found[2]), float(found[3])])
    if training.returncode not in (0, 3):
        sys.exit(f"accuracy: {' '.join(command)} ends with {training.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    (out / "epochs.json").write_text(json.dumps({"exit": training.returncode, "cpu_s": cpu, "epochs": epochs}))


def read(file):
    with open(file, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def summary(out, code, seed):
    """The row of runs.csv, and those of accuracy.csv."""
    noted = json.loads((out / "epochs.json").read_text())
    steps = [row for row in read(out / "train/steps.csv") if row["rank"] == "0"]
    begin = int(steps[0]["begin_ns"])
    result = json.loads((out / "train/run.json").read_text())["result"]
    outcomes = [row["outcome"] for row in read(out / "train/errors.csv")]
    epochs = {epoch: (ns, loss, accuracy) for ns, epoch, loss, accuracy in noted["epochs"]}  # the last of each
    curve = [{"code": code, "seed": seed, "epoch": epoch, "seconds": f"{(ns - begin) / 1e9:.3f}", "loss": loss,
              "accuracy_percent": accuracy} for epoch, (ns, loss, accuracy) in sorted(epochs.items())]
    row = {"code": code, "seed": seed, "ranks": RANKS, "exit_code": noted["exit"],
           "seconds": f"{(int(steps[-1]['end_ns']) - begin) / 1e9:.3f}", "cpu_seconds": f"{noted['cpu_s']:.1f}",
           "steps": len(steps), "steps_undone": result["steps_undone"], "rollbacks": result["code"]["rollbacks"],
           "errors": len(outcomes),
           **{outcome: outcomes.count(outcome)
              for outcome in ("regenerated", "rolled_back", "below_threshold", "missed", "false_alarm")},
           "loss": result["loss"], "accuracy_percent": 100 * result["accuracy"]}
    return row, curve


def write(file, rows):
    with open(file, "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def main():
    scratch, out = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    scratch.mkdir(parents=True, exist_ok=True)
    rows, curves = [], []
    for seed in SEEDS:  # the codes in turns, so that a drift of the machine meets all of them
        for code in CODES:
            run_of = scratch / f"{code.replace(' ', '-')}-{seed}"
            if not (run_of / "epochs.json").exists():
                run(run_of, code, seed)
            row, curve = summary(run_of, code, seed)
            rows.append(row)
            curves += curve
    write(out / "runs.csv", rows)
    write(out / "accuracy.csv", curves)
    script = GNUPLOT.replace("SEEDS", str(len(SEEDS)))
    subprocess.run(["gnuplot"], input=script, text=True, cwd=out, check=True)
    for code in CODES:
        of = [row for row in rows if row["code"] == code]
        accuracies = sorted(round(row["accuracy_percent"], 1) for row in of)
        print(f"{code}: {statistics.mean(float(row['seconds']) for row in of):.1f} s, "
              f"{sum(row['rollbacks'] for row in of)} rollbacks, accuracy in % {accuracies}")


if __name__ == "__main__":
    main()
