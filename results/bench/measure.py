#!/usr/bin/env python3
"""Runs the benchmarks that write rows for this folder, one file each: DATE-MACHINE-BENCHMARK.csv.

measure.py [--quick] [--machine NAME] [--load TEXT] [--bin DIR] [BENCHMARK...]

Afterwards tables.py --write puts them into docs/performance.md. A benchmark is a line of BENCHMARKS.
"""
import argparse
import datetime
import pathlib
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent

# Program, its arguments, and those of a quick run. Each takes --csv, --machine, --load and --run.
BENCHMARKS = {
    "programs": ("programs-bench", [], ["--quick"]),
    "large-archive": ("programs-bench", ["--large"], None),
}


def free_file(stem):
    """The first run of the day has the plain name."""
    for run in range(1, 1000):
        file = FOLDER / (f"{stem}.csv" if run == 1 else f"{stem}-{run}.csv")
        if not file.exists():
            return file, run
    sys.exit(f"measure.py: {FOLDER} has 1000 files {stem}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help=", ".join(BENCHMARKS) + "; default: all")
    parser.add_argument("--quick", action="store_true", help="less work, the same number of pairs")
    parser.add_argument("--machine", default="vm", help="its name in docs/performance.md")
    parser.add_argument("--load", default="quiet", help="what else runs there")
    parser.add_argument("--bin", type=pathlib.Path, default=FOLDER.parents[1] / "build" / "release" / "bin")
    asked = parser.parse_args()
    for name in asked.benchmarks:
        if name not in BENCHMARKS:
            parser.error(f"there is no benchmark '{name}', but {', '.join(BENCHMARKS)}")
    for name in asked.benchmarks or BENCHMARKS:
        program, whole, quick = BENCHMARKS[name]
        arguments = quick if asked.quick else whole
        if arguments is None:
            continue
        places = [asked.bin / program, *asked.bin.parent.glob(f"*/{program}")]
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            sys.exit(f"measure.py: there is no {program}; cmake --build --preset release --target benchmarks builds it")
        file, run = free_file(f"{datetime.datetime.utcnow():%Y-%m-%d}-{asked.machine}-{name}")
        begin = time.monotonic()
        done = subprocess.run([found, *arguments, "--bin", asked.bin, "--csv", file, "--machine", asked.machine,
                               "--load", asked.load, "--run", str(run)])
        if done.returncode != 0:
            sys.exit(f"measure.py: {program} ended with {done.returncode}")
        print(f"{file.name}: {time.monotonic() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
