#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three claims of the literature on bits that flip in a training, tried on the model mlp and the data set digits:

    many            dozens of flips are absorbed, unless the highest bit of an exponent is among them
    model           the model is more sensitive than the optimizer
    horovod         an exchange as Horovod's (cycle) is slightly more resilient than one as DDP's (ddp)

    soft_errors.py [DIR]        makes the runs in DIR (default build/soft-errors), or continues with those that are there,
                                and puts tables and README's numbers beside this script

Two ranks on one CPU each if there are two, else one. RESULTS=FOLDER puts the tables elsewhere; CROSSTALK_BIN is the
folder of the programs; TRIALS scales the number of trials (1). A trial that ends its process counts as crashed: the
training is started again and continues after it.
"""
import csv
import itertools
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
RESULTS = pathlib.Path(os.environ.get("RESULTS", HERE))
SCALE = float(os.environ.get("TRIALS", "1"))
STRATEGIES = ["ddp", "cycle"]
SEEDS = range(101, 113)  # seeds of the undisturbed trainings
MOMENTS = [60, 120]
END = 150  # steps
COLUMNS = "trial,block,kind,step,location,bits,count,target,rank,guard,steps,seed".split(",")
TRAINING = ["--model", "mlp", "--data", "digits", "--batch", "16", "--lr", "0.05"]
ABSORBED_FLIPS = 24  # the literature's "dozens"
ABSORBED = 0.05      # largest share of ruined trainings for flips that count as absorbed
Row = dict[str, str]


def ddl_train(ranks: int, *words: object) -> None:
    """Runs ddl-train, and restarts it after each trial that ends it."""
    start = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none"] if ranks > 1 else []
    command = [*start, str(BIN / "ddl-train"), *TRAINING, *(str(word) for word in words)]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    out = pathlib.Path(str(words[words.index("--out") + 1]))
    done = -1
    while True:
        status = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode
        if status == 0:
            return
        rows = out / "train/outcomes.csv"
        now = rows.read_text(encoding="utf-8").count("\n") if rows.exists() else 0
        if "--trials" not in words or now <= done:
            sys.exit(f"soft_errors: {' '.join(command)} ends with {status}")
        done = now


def strata() -> Iterator[tuple[str, str, int, int]]:
    """Yields target, bits, flips per trial, and trials for each moment."""
    for target in ("model", "optimizer"):
        yield target, "0-31", 1, int(160 * SCALE)  # any bit
        yield target, "1", 1, int(30 * SCALE)      # the highest bit of the exponent
        yield target, "2-31", ABSORBED_FLIPS, int(30 * SCALE)
        yield target, "0-31", ABSORBED_FLIPS, int(30 * SCALE)


def trials() -> list[Row]:
    rows: list[Row] = []
    for block, step in enumerate(MOMENTS, start=1):
        common = {"block": block, "step": step, "guard": "none", "rank": "all", "steps": END - step, "location": ""}
        for kind in ("null", "positive", "null"):
            rows.append({**common, "kind": kind, "bits": "", "count": 1, "target": "model", "seed": 1})
        for target, bits, count, number in strata():
            for _ in range(number):
                rows.append({**common, "kind": "trial", "bits": bits, "count": count, "target": target,
                             "seed": 1000 + len(rows)})
        rows.append({**common, "kind": "null", "bits": "", "count": 1, "target": "model", "seed": 1})
    for number, row in enumerate(rows, start=1):
        row["trial"] = f"b{row['block']}.{number:04d}"
    return rows


def interference(runs: list[pathlib.Path], seeds: list[pathlib.Path], out: pathlib.Path) -> str:
    words = [str(BIN / "interference"), "outcomes", *map(str, runs), "--out", str(out)]
    for seed in seeds:
        words += ["--band", str(seed)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"soft_errors: {done.stderr}")
    return done.stdout


def read(file: pathlib.Path) -> list[Row]:
    with open(file, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def wilson(count: int, number: int) -> tuple[float, float]:
    """Wilson's 95 % interval, as shares. Computed here independently, to check the tables of the program."""
    z = statistics.NormalDist().inv_cdf(0.975)
    share = count / number
    centre = (share + z * z / (2 * number)) / (1 + z * z / number)
    half = z / (1 + z * z / number) * math.sqrt(share * (1 - share) / number + z * z / (4 * number * number))
    return max(0.0, centre - half), min(1.0, centre + half)


def mcnemar(first: int, second: int) -> float:
    number = first + second
    tail = sum(math.comb(number, k) for k in range(min(first, second) + 1))
    return min(1.0, 2 * tail / 2**number)


def ruined(row: Row) -> bool:
    return row["class"] in ("crashed", "collapsed", "degraded")


def verdict(supported: bool, contradicted: bool) -> str:
    return "supported" if supported else "contradicted" if contradicted else "undecided"


def claims(joined: list[Row]) -> list[Row]:
    real = [row for row in joined if row["kind"] == "trial"]
    found: list[Row] = []

    def of(**wanted: str) -> list[Row]:
        return [row for row in real if all(row[name] == value for name, value in wanted.items())]

    def share(rows: list[Row]) -> tuple[int, int, float, float]:
        bad = sum(ruined(row) for row in rows)
        low, high = wilson(bad, len(rows))
        return bad, len(rows), low, high

    for bits, claim in (("2-31", "dozens of flips absorbed, the highest bit of the exponent spared"),
                        ("0-31", "dozens of flips absorbed, whatever the bit")):
        bad, number, low, high = share(of(target="model", bits=bits, count=str(ABSORBED_FLIPS)))
        found.append({"claim": claim, "numbers": f"{ABSORBED_FLIPS} flips ruin {bad} of {number} trainings",
                      "interval": f"{100 * low:.2f} to {100 * high:.2f} %",
                      "verdict": verdict(high <= ABSORBED, low > ABSORBED)})
    for bits in ("0-31", "1"):
        bad_m, number_m, low_m, high_m = share(of(target="model", bits=bits, count="1"))
        bad_o, number_o, low_o, high_o = share(of(target="optimizer", bits=bits, count="1"))
        found.append({"claim": f"model more sensitive than optimizer, one flip, bits {bits}",
                      "numbers": f"model {bad_m} of {number_m}, optimizer {bad_o} of {number_o} ruined",
                      "interval": f"{100 * low_m:.2f} to {100 * high_m:.2f} %, {100 * low_o:.2f} to {100 * high_o:.2f} %",
                      "verdict": verdict(low_m > high_o, high_m < low_o)})
    pairs: dict[str, dict[str, bool]] = {}
    for row in real:
        pairs.setdefault(row["trial"], {})[row["strategy"]] = ruined(row)
    both = [pair for pair in pairs.values() if len(pair) == 2]
    only_ddp = sum(pair["ddp"] and not pair["cycle"] for pair in both)
    only_cycle = sum(pair["cycle"] and not pair["ddp"] for pair in both)
    p = mcnemar(only_ddp, only_cycle)
    found.append({"claim": "Horovod slightly more resilient",
                  "numbers": f"of {len(both)} pairs {only_ddp} ruined with ddp alone, {only_cycle} with cycle alone",
                  "interval": f"McNemar p {p:.3g}",
                  "verdict": verdict(p <= 0.05 and only_ddp > only_cycle, p <= 0.05 and only_ddp < only_cycle)})
    return found


def write(file: pathlib.Path, rows: list[Row]) -> None:
    with open(file, "w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def summed(joined: list[Row]) -> list[Row]:
    """A row for each strategy, target, bits, count, step and class that occurs."""
    names = ("strategy", "target", "bits", "count", "step")
    rows: list[Row] = []
    real = sorted((row for row in joined if row["kind"] == "trial"), key=lambda row: [row[name] for name in names])
    for key, group in itertools.groupby(real, key=lambda row: [row[name] for name in names]):
        members = list(group)
        for what in sorted({row["class"] for row in members}):
            count = sum(row["class"] == what for row in members)
            low, high = wilson(count, len(members))
            rows.append({**dict(zip(names, key)), "class": what, "trials": len(members), "number": count,
                         "low_percent": f"{100 * low:.3f}", "high_percent": f"{100 * high:.3f}"})
    return rows


def main() -> None:
    scratch = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/soft-errors").resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    ranks = 2 if len(os.sched_getaffinity(0)) > 1 and shutil.which("mpirun") else 1
    planned = trials()
    file = scratch / "trials.csv"
    if not file.exists():
        with open(file, "w", newline="", encoding="utf-8") as out:
            table = csv.DictWriter(out, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(planned)
    seeds = [scratch / f"seed-{seed}" for seed in SEEDS]
    for seed, out in zip(SEEDS, seeds):
        if not (out / "train").exists():
            ddl_train(ranks, "--steps", END, "--seed", seed, "--trace", "off", "--out", out)
    runs = [scratch / strategy for strategy in STRATEGIES]
    took: dict[str, float] = {}
    for strategy, out in zip(STRATEGIES, runs):
        begun = time.monotonic()
        ddl_train(ranks, "--strategy", strategy, "--trials", file, "--out", out)
        took[strategy] = time.monotonic() - begun
    report = scratch / "report"
    shutil.rmtree(report, ignore_errors=True)
    print(interference(runs, seeds, report))
    by_name = {str(row["trial"]): row for row in planned}
    joined = [{**{name: str(value) for name, value in by_name[row["trial"]].items()}, **row}
              for row in read(report / "trials.csv")]
    RESULTS.mkdir(parents=True, exist_ok=True)
    answers = claims(joined)
    write(RESULTS / "claims.csv", answers)
    write(RESULTS / "outcomes.csv", summed(joined))
    for name in ("bit_map.csv", "layer_map.csv", "strategies.csv", "bands.csv", "bit_map.svg"):
        shutil.copy(report / name, RESULTS / name)
    record = json.loads((runs[0] / "train/run.json").read_text(encoding="utf-8"))
    write(RESULTS / "machine.csv", [{"host_cpus": os.cpu_count(), "ranks": ranks, "trials": len(planned) * len(runs),
                                     "seconds": f"{sum(took.values()):.0f}", "started": record.get("started", ""),
                                     "version": record.get("version", "")}])
    for answer in answers:
        print(f"{answer['claim']}: {answer['verdict']} ({answer['numbers']}; {answer['interval']})")


main()
