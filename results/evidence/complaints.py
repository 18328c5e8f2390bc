#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replays problems that users of clusters reported in public, on two CPUs: does trace-os name the cause?

    complaints.py [--seconds 5] [NUMBER..]

Each is a small job, which trace-os observes first without and then with the problem. Prints the step times of both, and what
keeps the main thread from running for longer than before. Needs root and two CPUs. CROSSTALK_BIN names the folder of the
programs. Exit code 1 if trace-os names another cause than the one that was made."""
import argparse
import collections
import contextlib
import csv
import ctypes
import hashlib
import mmap
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import disturbances
import injections

TRACE_OS = injections.BIN / "trace-os"
HASHED = bytes(1 << 20)
FILE_BYTES = 32 << 20


def called(name):
    ctypes.CDLL(None).prctl(15, name.encode())


def compute(times=1):
    for _ in range(times):
        hashlib.sha256(HASHED).digest()


def forked(name, cpu, work):
    """Starts a process that repeats `work` on the CPU until it is killed. Returns its PID."""
    pid = os.fork()
    if pid == 0:
        called(name)
        os.sched_setaffinity(0, {cpu})
        while True:
            work()
    return pid


def thread(name, work):
    def run():
        called(name)
        while True:
            work()

    threading.Thread(target=run, daemon=True).start()


class Reader:
    """Reads of a file past the page cache."""

    def __init__(self, file):
        self.file, self.piece = os.open(file, os.O_RDONLY | os.O_DIRECT), mmap.mmap(-1, 64 << 10)

    def __call__(self):
        os.preadv(self.file, [self.piece], random.randrange(FILE_BYTES // len(self.piece)) * len(self.piece))


def checkpoint(file):
    """A state of 64 MiB, hashed and written."""
    with open(f"{file}.checkpoint", "wb") as out:
        for _ in range(64):
            compute()
            out.write(HASHED)
        os.fsync(out.fileno())


# The job of each problem: what it starts besides its main thread, and its step.
def surplus(count, name):
    return lambda file: [thread(f"{name} {number}", compute) for number in range(count)] and None


def checkpointing(file):
    thread("checkpoint", lambda: checkpoint(file))


def loading(file):
    for number in range(2):
        forked(f"loader {number}", max(os.sched_getaffinity(0)), compute)


def polling(file):
    for number in range(2):
        thread(f"preprocess {number}", compute)


def nothing(file):
    pass


def reading_step(file):
    read = Reader(file)
    return lambda: (compute(4), read())


def proxy_step(file):
    def step():  # a proxy thread polls every 0.2 ms and copies a little
        for _ in range(10):
            time.sleep(0.0002)
            compute()
    return step


# The problem as reported, what the job does besides its steps, its step, the disturbance from outside, and the cause.
COMPLAINTS = {
    1: ("a job got 2 CPUs of 256 and looks like a software regression", surplus(3, "worker"), reading_step, None, "own_thread"),
    2: ("OMP_NUM_THREADS is unset in several processes of a node", surplus(2, "omp"), reading_step, "second job", "own_thread"),
    3: ("an asynchronous checkpoint makes steps longer", checkpointing, reading_step, None, "own_thread"),
    4: ("collectives jitter: proxy threads share cores with preprocessing", polling, proxy_step, None, "own_thread"),
    5: ("PSI says neighbour, but it is the pod's quota", nothing, reading_step, "quota", "throttled"),
    6: ("interrupts of the network card on the training's cores", nothing, reading_step, "packets", "softirq"),
    7: ("a decode server beside stress-ng on other cores", nothing, reading_step, "bandwidth", None),
    8: ("data-loader workers on the core of the main thread", loading, reading_step, None, "own_thread"),
}


def job(number, disturbed, file, cpu, steps_csv):
    os.sched_setaffinity(0, {cpu})
    os.setpgid(0, 0)
    called("main")
    _, begins, step_of, _, _ = COMPLAINTS[number]
    if disturbed:
        begins(file)
    step, times, ended = step_of(file), [time.monotonic_ns()], []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    while not ended:
        step()
        times.append(time.monotonic_ns())
    pathlib.Path(steps_csv).write_text("\n".join(str(b - a) for a, b in zip(times, times[1:])))
    os.killpg(0, signal.SIGKILL)


def disturb(how, file, cpus, group, seconds):
    """Starts the disturbance from outside the job. Returns its PID; None if it is not a process."""
    times = [(0, time.monotonic_ns() + round((seconds + 30) * 1e9))]
    place = disturbances.Place(cpus[1], cpus[0], file, FILE_BYTES, group, 50_000)
    work = {"second job": lambda: [thread(f"omp {i}", compute) for i in range(2)] and compute(10 ** 9),
            "packets": lambda: disturbances.soft_interrupts(place, 0.7, times),
            "bandwidth": lambda: disturbances.memory_bandwidth(place, 1.0, times)}.get(how)
    if how == "quota":
        disturbances.set_quota(place, 15_000)
    if not work:
        return None
    return forked("second job", cpus[1] if how == "second job" else cpus[0], work)


def watched(number, disturbed, seconds, cpus, scratch):
    """Returns the mean step in ms, {(cause, by): ms per second of the main thread}, and the share of time under pressure (PSI)."""
    out, file = scratch / f"{number}-{disturbed}", str(scratch / "file")
    with injections.control_groups(50_000) as (group, _):
        child = subprocess.Popen([sys.executable, __file__, "--job", str(number), str(int(disturbed)), file, str(cpus[1]),
                                  str(scratch / "steps")])
        (group / "cgroup.procs").write_text(str(child.pid))
        other = disturb(COMPLAINTS[number][3], file, cpus, group, seconds) if disturbed else None
        time.sleep(1)
        subprocess.run([TRACE_OS, "--pid", str(child.pid), "--out", out, "--cpus", str(cpus[0]), f"{seconds}s"],
                       check=True, stdout=subprocess.DEVNULL)
        child.terminate()
        child.wait()
        if other:
            os.kill(other, signal.SIGKILL)
            os.waitpid(other, 0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        while (group / "cgroup.procs").read_text():
            time.sleep(0.05)
    causes, pressure = collections.Counter(), 0.0
    (table,) = (out / "os").glob("*/os.csv")
    with open(table) as rows:
        for row in csv.DictReader(rows):
            if row["source"] == "bpf" and row["thread"] == str(child.pid):
                causes[row["cause"], row["by"]] += int(row["ns"]) / 1e6 / seconds
            if row["source"] == "psi" and row["by"] == "cpu some":
                pressure += int(row["ns"]) / 1e9 / seconds
    steps = [int(line) / 1e6 for line in (scratch / "steps").read_text().split()]
    return statistics.fmean(steps), causes, pressure


def replayed(number, seconds, cpus, scratch):
    said, _, _, _, wanted = COMPLAINTS[number]
    before_ms, before, _ = watched(number, False, seconds, cpus, scratch)
    after_ms, after, pressure = watched(number, True, seconds, cpus, scratch)
    grown = {key: after[key] - before[key] for key in after if after[key] - before[key] > 20}  # ms a second
    by_cause = collections.Counter()
    for (cause, _), ms in grown.items():
        by_cause[cause] += ms
    found = by_cause.most_common(1)[0][0] if by_cause else None
    names = sorted((key for key in grown if key[0] == found), key=lambda key: -grown[key])[:3]
    named = (f"{found} {by_cause[found]:.0f} ms/s" + ": " * any(by for _, by in names) +
             ", ".join(by for _, by in names)) if found else "nothing keeps it from running"
    print(f"| {number} | {said} | {before_ms:.2f} ms | {after_ms:.2f} ms | {100 * pressure:.0f} % | {named} | "
          f"{'yes' if found == wanted else 'NO'} |", flush=True)
    return found == wanted


def main():
    if sys.argv[1:2] == ["--job"]:
        return job(int(sys.argv[2]), sys.argv[3] == "1", sys.argv[4], int(sys.argv[5]), sys.argv[6])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("number", type=int, nargs="*")
    asked = parser.parse_args()
    cpus = sorted(os.sched_getaffinity(0))
    print("| | complaint | step before | step then | pressure (PSI) | trace-os | as made |\n|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="crosstalk-complaints.") as scratch:
        (pathlib.Path(scratch) / "file").write_bytes(os.urandom(FILE_BYTES))
        right = [replayed(number, asked.seconds, (cpus[0], cpus[-1]), pathlib.Path(scratch))
                 for number in asked.number or COMPLAINTS]
    sys.exit(not all(right))


if __name__ == "__main__":
    main()
