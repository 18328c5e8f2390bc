#!/usr/bin/env python3
"""noisegen alter and difference against h5py, cp and cmp, in pairs one after the other; medians.

    alter_bench.py BIN DIR [--rounds 5]     DIR: on a file system with 13 GiB free; files go there and are removed
"""
import argparse
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
except ImportError:
    print("SKIPPED: no python3-h5py")
    sys.exit(77)

MIB = 1 << 20


def timed(work):
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def command(*words):
    return lambda: subprocess.run([str(word) for word in words], check=False, stdout=subprocess.DEVNULL)


def write(path, bytes_):
    with h5py.File(path, "w") as file:
        count = bytes_ // 4
        made = file.create_dataset("model/weight", shape=(count,), dtype="<f4")
        rng = np.random.default_rng(1)
        for begin in range(0, count, 16 * MIB):
            some = min(16 * MIB, count - begin)
            made[begin:begin + some] = (0.05 * rng.standard_normal(some)).astype("<f4")


def alter_by_h5py(path, count):
    """As hdf5_corrupter does: one number after the other."""
    rng = np.random.default_rng(2)
    with h5py.File(path, "r+") as file:
        made = file["model/weight"]
        for index in rng.integers(0, made.shape[0], count):
            word = np.float32(made[index]).view("u4") ^ np.uint32(1 << 20)
            made[index] = word.view("f4")


def fresh_record(directory):
    for path in directory.glob("r.*"):
        path.unlink()


def show(name, ours, theirs, goal):
    ratio = statistics.median(mine / other for mine, other in zip(ours, theirs))
    print(f"{name}: {statistics.median(ours) * 1e3:.1f} ms against {statistics.median(theirs) * 1e3:.1f} ms, "
          f"ratio {ratio:.3f} (goal {goal})")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("bin", type=pathlib.Path)
    options.add_argument("directory", type=pathlib.Path)
    options.add_argument("--rounds", type=int, default=5)
    given = options.parse_args()
    noisegen = given.bin / "noisegen"
    with tempfile.TemporaryDirectory(dir=given.directory) as name:
        directory = pathlib.Path(name)
        record = directory / "r.json"
        middle = directory / "middle.h5"
        write(middle, 89 * 1000 * 1000)
        ours, theirs = [], []
        for number in range(given.rounds):
            fresh_record(directory)
            ours.append(timed(command(noisegen, "alter", middle, "--flips", 100_000, "--bits", "9-31", "--seed", number,
                                      "--in-place", "--record", record)))
            theirs.append(timed(lambda: alter_by_h5py(middle, 10_000)) * 10)
        show("100,000 flips in 89 MB against h5py (ten times 10,000)", ours, theirs, "<= 0.02")

        large = directory / "large.h5"
        write(large, 4096 * MIB)
        times = []
        for number in range(given.rounds):
            fresh_record(directory)
            times.append(timed(command(noisegen, "alter", large, "--flips", 10, "--seed", number, "--in-place",
                                       "--record", record)))
        print(f"10 flips in 4 GiB in place: {statistics.median(times) * 1e3:.1f} ms (goal <= 50)")

        copy = directory / "copy.h5"
        ours, theirs = [], []
        for number in range(given.rounds):
            for times, words in ((ours, (noisegen, "alter", middle, "--flips", 10, "--out", copy, "--record", record)),
                                 (theirs, ("cp", middle, copy))):
                fresh_record(directory)
                copy.unlink(missing_ok=True)
                times.append(timed(command(*words)))
        show("10 flips in a copy of 89 MB against cp", ours, theirs, "<= 1.1, start included")
        ours, theirs = [], []
        for number in range(given.rounds):
            for times, words in ((ours, (noisegen, "alter", large, "--flips", 10, "--out", copy, "--record", record)),
                                 (theirs, ("cp", large, copy))):
                fresh_record(directory)
                copy.unlink(missing_ok=True)
                times.append(timed(command(*words)))
        show("10 flips in a copy of 4 GiB against cp", ours, theirs, "<= 1.1")

        ours, theirs = [], []
        same = directory / "same.h5"
        command("cp", middle, same)()
        for number in range(given.rounds):
            out = directory / f"d{number}"
            ours.append(timed(command(noisegen, "difference", middle, same, "--out", out)))
            theirs.append(timed(command("cmp", middle, same)))
        show("difference of 89 MB against cmp", ours, theirs, "<= 1.25, which is 0.8 of its speed")
        command("cp", large, copy)()
        ours, theirs = [], []
        for number in range(max(2, given.rounds // 2)):
            out = directory / f"l{number}"
            ours.append(timed(command(noisegen, "difference", large, copy, "--out", out)))
            theirs.append(timed(command("cmp", large, copy)))
        show("difference of 4 GiB against cmp", ours, theirs, "<= 1.25, which is 0.8 of its speed")


if __name__ == "__main__":
    main()
