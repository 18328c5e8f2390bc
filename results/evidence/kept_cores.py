#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does job.cores slow a job down as much as taskset by hand?

    kept_cores.py [--rounds 10] [--seconds 4]

A job of two threads computes hashes on two CPUs: a step ends when both threads have done their parts. In each round, in random
order, the job runs by hand (unbound, and under taskset on one and on two CPUs, --seconds each), and under noisegen (one
run, whose slots are quiet or job.cores[keep=1|2]). A slowdown is the mean step over that of the
unbound run, or of the quiet slots; printed are means over rounds with 95 % t intervals, and their difference. Exit code
1 if an interval of a difference lies beyond 2 % of the step. CROSSTALK_BIN names the folder of the programs."""
import argparse
import csv
import hashlib
import os
import pathlib
import queue
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import cost

HASHED = bytes(2 << 20)
LEVELS = (1, 2)
SLOT = 0.4  # s
SETTLED_NS = 20_000_000  # a thread may take a scheduler tick or more to move to another CPU
TOLERANCE = 0.02


def job(file):
    """Makes steps until SIGTERM, and then writes their times to the file."""
    ended, given, done = [], queue.SimpleQueue(), queue.SimpleQueue()
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))

    def second():
        while True:
            given.get()
            hashlib.sha256(HASHED).digest()  # without Python's lock
            done.put(None)

    threading.Thread(target=second, daemon=True).start()
    times = [time.monotonic_ns()]
    while not ended:
        given.put(None)
        hashlib.sha256(HASHED).digest()
        done.get()
        times.append(time.monotonic_ns())
    pathlib.Path(file).write_text("\n".join(map(str, times)))
    os._exit(0)  # the second thread may be in the middle of a hash


class Job:
    def __init__(self, scratch, wrapper=()):
        self.file = pathlib.Path(scratch) / "steps"
        self.process = subprocess.Popen([*wrapper, sys.executable, __file__, "--job", self.file])
        time.sleep(1)

    def steps(self):
        self.process.terminate()
        self.process.wait()
        times = [int(line) for line in self.file.read_text().split()]
        return list(zip(times, times[1:]))


def by_hand(cpus, seconds):
    """The mean step of the job on these CPUs; None: unbound."""
    with tempfile.TemporaryDirectory() as scratch:
        run = Job(scratch, () if cpus is None else ("taskset", "-c", ",".join(map(str, cpus))))
        begin = time.monotonic_ns()
        time.sleep(seconds)
        return cost.mean_step(run.steps(), (begin, begin + round(seconds * 1e9)))


def under_noisegen(cpus, seconds, seed):
    """The mean step in the slots of each level, and in quiet slots."""
    with tempfile.TemporaryDirectory() as scratch:
        run = Job(scratch)
        subprocess.run([cost.BIN / "noisegen", "--schedule", f"rotation(job.cores[keep=1|2]; slot={SLOT}s)", "--cpus",
                        ",".join(map(str, cpus)), "--share", "--victim", str(run.process.pid), "--seed", str(seed),
                        "--duration", f"{seconds}s", "--out", f"{scratch}/run"],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        steps = run.steps()
        (table,) = pathlib.Path(scratch).glob("run/noise/*/noise.csv")
        spans = {(int(row["begin_ns"]) + SETTLED_NS, int(row["end_ns"]), row["level"])
                 for row in csv.DictReader(table.open()) if row["cpu"] == str(cpus[-1])}
    def mean(level):
        inside = [end - begin for begin, end in steps
                  if any(from_ns <= begin and end <= until_ns for from_ns, until_ns, of in spans if of == level)]
        return statistics.fmean(inside)
    return {None: mean(""), **{keep: mean(f"keep={keep}") for keep in LEVELS}}


def one_round(chance, cpus, seconds):
    arms = [None, *LEVELS, "noisegen"]
    chance.shuffle(arms)
    hand, noise = {}, {}
    for arm in arms:
        if arm == "noisegen":
            noise = under_noisegen(cpus, 4 * seconds, chance.randrange(1, 1 << 30))
        else:
            hand[arm] = by_hand(None if arm is None else cpus[:arm], seconds)
    return {keep: (hand[keep] / hand[None], noise[keep] / noise[None]) for keep in LEVELS}


def percent(estimate):
    mean, low, high = (100 * value for value in estimate)
    return f"{mean:+.1f} % ({low:+.1f} to {high:+.1f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10, choices=[freedom + 1 for freedom in cost.T95])
    parser.add_argument("--seconds", type=float, default=4)
    asked = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        print("needs two CPUs", file=sys.stderr)
        return 77
    os.sched_setaffinity(0, cpus)
    chance = random.Random(1)
    rounds = [one_round(chance, cpus, asked.seconds) for _ in range(asked.rounds)]
    print(f"{asked.rounds} rounds, {asked.seconds} s of each by hand, at a load of {os.getloadavg()[1]:.1f}\n\n"
          "| CPUs kept | by hand | `job.cores` | difference |\n|---|---|---|---|")
    apart = False
    for keep in LEVELS:
        hand, noise = ([one[keep][which] - 1 for one in rounds] for which in (0, 1))
        difference = cost.interval([b - a for a, b in zip(hand, noise)])
        tolerated = TOLERANCE * (1 + statistics.fmean(hand))
        apart |= difference[1] > tolerated or difference[2] < -tolerated
        print(f"| {keep} | {percent(cost.interval(hand))} | {percent(cost.interval(noise))} | {percent(difference)} |")
    return 1 if apart else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        job(sys.argv[2])
    sys.exit(main())
