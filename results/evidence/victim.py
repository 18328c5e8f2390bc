#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job whose steps are fixed work on one CPU: hashing, a copy in memory, reads of files past and through the page cache,
and pages of a mapped file.

    victim.py RUN FILE CPU THREADS SURPLUS.json

It writes RUN/train/steps.csv when SIGTERM ends it, and RUN/train/run.json before the first step. FILE must
exist and have COLD bytes. With THREADS 2, a second thread does half of the hashing. SURPLUS.json: surplus threads or
processes of the job, and the times (ns, CLOCK_MONOTONIC) in which they run on the main thread's CPU."""
import hashlib
import json
import mmap
import os
import pathlib
import queue
import random
import signal
import socket
import sys
import threading
import time

COLD = 32 << 20
HASHED = bytes(2 << 20)
PIECE = 64 << 10
MAPPED = 4 << 20


def spin_until(end_ns):
    """Computes without Python's lock, in pieces of about 2 ms."""
    while time.monotonic_ns() < end_ns:
        hashlib.sha256(HASHED).digest()


def surplus_runs(surplus, number):
    """The work of a surplus thread or process: within each of the times, bursts of `on_ms`, each followed by a rest of `off_ms`."""
    for begin, end in surplus["times"]:
        sleep_until(begin)
        while (now := time.monotonic_ns()) < end:
            spin_until(min(end, now + round(surplus["on_ms"] * 1e6)))
            time.sleep(surplus["off_ms"] / 1e3 * (1 + number % 2))


def sleep_until(at_ns):
    while (left := at_ns - time.monotonic_ns()) > 0:
        time.sleep(left / 1e9)


def start_surplus(surplus):
    for number in range(surplus["count"]):
        if surplus["as"] == "processes":
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                surplus_runs(surplus, number)
                os._exit(0)
        else:
            threading.Thread(target=surplus_runs, args=(surplus, number), daemon=True).start()


class Step:
    def __init__(self, file, threads):
        self.direct = os.open(file, os.O_RDONLY | os.O_DIRECT)
        self.cached = os.open(file, os.O_RDONLY)
        self.piece = mmap.mmap(-1, PIECE)
        self.source, self.target = bytearray(4 << 20), memoryview(bytearray(4 << 20))
        self.chance = random.Random(7)
        self.hashed = memoryview(HASHED)[: len(HASHED) // threads]
        self.given, self.done = queue.SimpleQueue(), queue.SimpleQueue()
        self.threads = threads
        if threads == 2:
            threading.Thread(target=self.second, daemon=True).start()

    def second(self):
        while True:
            self.given.get()
            hashlib.sha256(self.hashed).digest()
            self.done.put(None)

    def place(self, length):
        return self.chance.randrange(COLD // 2 // length) * length

    def run(self):
        if self.threads == 2:
            self.given.put(None)
        hashlib.sha256(self.hashed).digest()
        self.target[:] = self.source
        os.preadv(self.direct, [self.piece], self.place(PIECE))
        for _ in range(4):
            os.preadv(self.cached, [self.piece], self.place(PIECE))
        at = COLD // 2 + self.place(MAPPED)
        with mmap.mmap(self.cached, MAPPED, mmap.MAP_SHARED, mmap.PROT_READ, offset=at) as pages:
            pages.madvise(mmap.MADV_RANDOM)
            for offset in range(0, MAPPED, MAPPED // 16):
                pages[offset]
        if self.threads == 2:
            self.done.get()


def main(run, file, cpu, threads, surplus):
    os.sched_setaffinity(0, {cpu})
    ended = []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    train = pathlib.Path(run) / "train"
    train.mkdir(parents=True)
    start_surplus(surplus)
    step = Step(file, threads)
    record = {"result": {"each_rank": [{"host": socket.gethostname(), "pid": os.getpid()}]}}
    (train / "run.json.new").write_text(json.dumps(record))
    (train / "run.json.new").rename(train / "run.json")
    times = [time.monotonic_ns()]
    while not ended:
        step.run()
        times.append(time.monotonic_ns())
    with open(train / "steps.csv", "w") as table:
        print("rank,step,begin_ns,end_ns", file=table)
        for number, (begin, end) in enumerate(zip(times, times[1:])):
            print(0, number, begin, end, sep=",", file=table)
    os._exit(0)  # daemon threads may be in the middle of a hash


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), json.loads(pathlib.Path(sys.argv[5]).read_text()))
