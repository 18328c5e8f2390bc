#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What trace-os costs the steps of a training.

    cost.py [--rounds 15] [--seconds 4] [--csv FILE]

While one training runs, trace-os does not run, reads counters (--bpf off), or also uses its eBPF programs, for some
seconds each, in random order within each round; without and with 20,000 context switches a second on another CPU. The cost
is the mean step with trace-os divided by that without, in the same round, with a 95 % t interval over rounds. Also prints
the kernel's statistics: run time and calls of each eBPF program. Needs root. CROSSTALK_BIN names the folder of the programs."""
import argparse
import bisect
import csv
import json
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
STATS = pathlib.Path("/proc/sys/kernel/bpf_stats_enabled")
ARMS = ("none", "counters", "programs")
T95 = {4: 2.776, 9: 2.262, 14: 2.145, 19: 2.093, 29: 2.045}  # by degrees of freedom


def switches(cpu, a_second=20_000):
    """Two processes that wake each other through pipes: two switches a round, in bursts every 5 ms."""
    there, back = os.pipe(), os.pipe()
    if os.fork() == 0:
        os.sched_setaffinity(0, {cpu})
        while True:
            os.write(back[1], os.read(there[0], 1))
    os.sched_setaffinity(0, {cpu})
    next_s = time.monotonic()
    while True:
        for _ in range(a_second // 2 // 200):
            os.write(there[1], b"x")
            os.read(back[0], 1)
        next_s += 0.005
        time.sleep(max(0.0, next_s - time.monotonic()))


class Switches:
    def __init__(self, cpu):
        self.cpu = cpu

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, __file__, "--switches", str(self.cpu)], start_new_session=True)

    def __exit__(self, *_):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Training:
    def __init__(self, model, out, cpu):
        self.out = out
        self.process = subprocess.Popen(
            [BIN / "ddl-train", "--model", model, "--data", "synthetic", "--strategy", "none", "--cpus", str(cpu),
             "--steps", "100000000", "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (out / "train" / "steps.csv").exists():
            time.sleep(0.1)
        time.sleep(2)

    def steps(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        with open(self.out / "train" / "steps.csv") as table:
            return [(int(row["begin_ns"]), int(row["end_ns"])) for row in csv.DictReader(table)]


def watched(pid, arm, seconds, cpu):
    """Runs trace-os for that long. Returns the span of time in which it certainly recorded."""
    begin = time.monotonic_ns()
    if arm == "none":
        time.sleep(seconds)
    else:
        subprocess.run([BIN / "trace-os", "--pid", str(pid), "--cpus", str(cpu), "--bpf",
                        "off" if arm == "counters" else "auto", f"{seconds}s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)
    return begin + 500_000_000, begin + round((seconds - 0.1) * 1e9)  # its programs are attached in this time


def mean_step(steps, span):
    first = bisect.bisect_left(steps, (span[0],))
    inside = [end - begin for begin, end in steps[first:bisect.bisect_left(steps, (span[1],))] if end <= span[1]]
    return statistics.fmean(inside)


def interval(ratios):
    mean = statistics.fmean(ratios)
    half = T95.get(len(ratios) - 1, 2.0) * statistics.stdev(ratios) / math.sqrt(len(ratios))
    return mean, mean - half, mean + half


def measured(model, asked, scratch, cpus):
    training = Training(model, scratch, cpus[1])
    chance = random.Random(1)
    rounds = []
    for _ in range(asked.rounds):
        order = list(ARMS)
        chance.shuffle(order)
        rounds.append({arm: watched(training.process.pid, arm, asked.seconds, cpus[0]) for arm in order})
    programs = of_programs(training.process.pid, asked.seconds, cpus[0])
    steps = training.steps()
    means = [{arm: mean_step(steps, span) for arm, span in one.items()} for one in rounds]
    return statistics.fmean(one["none"] for one in means) / 1e6, {
        arm: interval([one[arm] / one["none"] for one in means]) for arm in ARMS[1:]}, programs


def of_programs(pid, seconds, cpu):
    """Calls a second and ns a call of each program, by the kernel's own account, which is put back as it was."""
    def listed():
        out = subprocess.run(["bpftool", "prog", "show", "--json"], capture_output=True, text=True, check=True,
                             env=os.environ | {"PATH": os.environ["PATH"] + ":/usr/sbin"}).stdout
        return {p["id"]: p for p in json.loads(out)}

    before, others = STATS.read_text(), listed()
    STATS.write_text("1")
    try:
        watcher = subprocess.Popen([BIN / "trace-os", "--pid", str(pid), "--cpus", str(cpu), f"{seconds + 60}s"],
                                   stdout=subprocess.DEVNULL)
        while not any(p.get("run_cnt") for number, p in listed().items() if number not in others):
            time.sleep(0.2)
        first = listed()
        time.sleep(seconds)
        last = {number: p for number, p in listed().items() if number not in others and p.get("run_cnt")}
        watcher.terminate()
        watcher.wait()
    finally:
        STATS.write_text(before)
    grown = {number: (p["name"], p["run_cnt"] - first[number].get("run_cnt", 0),
                      p["run_time_ns"] - first[number].get("run_time_ns", 0)) for number, p in last.items()}
    return [(name, calls / seconds, ns / calls) for name, calls, ns in grown.values() if calls]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--switches", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.switches is not None:
        switches(asked.switches)
    cpus = sorted(os.sched_getaffinity(0))
    cpus = (cpus[0], cpus[-1])
    rows = []
    for model in ("emulated[compute=15ms]", "mlp"):
        for a_second in (0, 20_000):
            with tempfile.TemporaryDirectory(prefix="crosstalk-cost.") as scratch:
                load = os.getloadavg()[0]
                if a_second:
                    with Switches(cpus[0]):
                        step_ms, costs, programs = measured(model, asked, pathlib.Path(scratch) / "run", cpus)
                else:
                    step_ms, costs, programs = measured(model, asked, pathlib.Path(scratch) / "run", cpus)
            for arm, (mean, low, high) in costs.items():
                rows.append({"model": model, "switches_per_s": a_second, "arm": arm, "step_ms": round(step_ms, 3),
                             "ratio": round(mean, 5), "low": round(low, 5), "high": round(high, 5),
                             "rounds": asked.rounds, "load": round(load, 2)})
                print(*rows[-1].values(), flush=True)
            print(*(f"  {name}: {calls:.0f} calls/s, {ns:.0f} ns a call"
                    for name, calls, ns in sorted(programs, key=lambda p: -p[1] * p[2])[:8]), sep="\n", flush=True)
            total = sum(calls * ns for _, calls, ns in programs) / 1e6
            print(f"  all programs: {total:.3f} ms of CPU time a second", flush=True)
    if asked.csv:
        with open(asked.csv, "w", newline="") as table:
            writer = csv.DictWriter(table, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
