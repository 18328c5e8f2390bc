#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training whose neighbour harms it in a known way, and what that costs by its own step times.

    victim.py HOW STEPS_CSV RAW_CSV SECONDS     as the job: HOW is stall, checkpoint or load
    victim.py neighbour                         as the neighbour: it marks the time at which it ran last
    victim.py cost RAW_CSV                      pen and paper: mean cycle beside the neighbour against all others
    victim.py cost-of-run RUN FACTOR            the same of rank 0 of a run of ddl-train: steps that begin in slots of
                                                the factor against those that begin in quiet and placebo slots

stall: one step of fifty that begins beside the neighbour sleeps for a second. checkpoint: every 25th step writes for 60
ms, beside the neighbour for 120. load: between timed steps of 15 ms the job loads for 3 ms, beside the neighbour for
9."""
import bisect
import csv
import os
import pathlib
import random
import signal
import statistics
import sys
import time

MARK = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"crosstalk-seal-{os.getuid()}")


def neighbour():
    with open(MARK, "w+b", buffering=0) as mark:
        while True:
            mark.seek(0)
            mark.write(time.monotonic_ns().to_bytes(8, "little"))
            time.sleep(0.002)


def is_beside():
    try:
        with open(MARK, "rb", buffering=0) as mark:
            return time.monotonic_ns() - int.from_bytes(mark.read(8), "little") < 20_000_000
    except OSError:
        return False


def rounds_in(seconds):
    """Number of rounds of work that take this time here. Work, not time: a training that is stopped does it later."""
    rounds, end = 0, time.monotonic() + 0.5
    while time.monotonic() < end:
        compute(1)
        rounds += 1
    return round(rounds * seconds / 0.5)


def compute(rounds):
    for _ in range(rounds):
        sum(range(500))


def job(how, steps_csv, raw_csv, seconds):
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    chance = random.Random(1)
    rounds = rounds_in(0.015)
    until = time.monotonic() + seconds
    with open(steps_csv, "w", buffering=1) as steps, open(raw_csv, "w", buffering=1) as raw:
        print("rank,step,begin_ns,end_ns,checkpoint_ns", file=steps)
        print("step,begin_ns,end_ns,beside", file=raw)
        step = 0
        while not ended and time.monotonic() < until:
            beside = is_beside()
            begin = time.monotonic_ns()
            compute(rounds)
            if how == "stall" and beside and chance.random() < 0.02:
                time.sleep(1.0)
            written = time.monotonic_ns()
            if how == "checkpoint" and step % 25 == 24:
                time.sleep(0.12 if beside else 0.06)
            end = time.monotonic_ns()
            print(0, step, begin, end, end - written if step % 25 == 24 and how == "checkpoint" else 0, sep=",",
                  file=steps)
            print(step, begin, end, int(beside), sep=",", file=raw)
            if how == "load":
                time.sleep(0.009 if is_beside() else 0.003)
            step += 1


def cost(raw_csv):
    rows = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(open(raw_csv))][10:]
    first = next(i for i, row in enumerate(rows) if row["beside"])
    last = max(i for i, row in enumerate(rows) if row["beside"])
    cycles = {0: [], 1: []}
    for row, after in zip(rows[first:last], rows[first + 1:]):
        cycles[row["beside"]].append((after["begin_ns"] - row["begin_ns"]) / 1e6)
    tell(cycles)


def cost_of_run(run, factor):
    noise, = pathlib.Path(run, "noise").glob("*/noise.csv")
    slots = [row for row in csv.DictReader(open(noise))]
    begins = [int(row["begin_ns"]) for row in slots]
    steps = [int(row["begin_ns"]) for row in csv.DictReader(open(f"{run}/train/steps.csv")) if row["rank"] == "0"]
    cycles = {0: [], 1: []}
    for begin, after in zip(steps, steps[1:]):
        at = bisect.bisect_right(begins, begin) - 1
        if 0 <= at < len(slots) - 1 and slots[at]["factor"] in ("quiet", "placebo", factor):
            cycles[int(slots[at]["factor"] == factor)].append((after - begin) / 1e6)
    tell(cycles)


def tell(cycles):
    quiet, noisy = statistics.fmean(cycles[0]), statistics.fmean(cycles[1])
    print(f"{len(cycles[0])} steps without it, {quiet:.3f} ms; {len(cycles[1])} beside it, {noisy:.3f} ms: "
          f"{100 * (noisy / quiet - 1):+.2f} %")


if __name__ == "__main__":
    if sys.argv[1] == "neighbour":
        neighbour()
    elif sys.argv[1] == "cost":
        cost(sys.argv[2])
    elif sys.argv[1] == "cost-of-run":
        cost_of_run(sys.argv[2], sys.argv[3])
    else:
        job(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
