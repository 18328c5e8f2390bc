#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the benchmarks of a build, one after the other. What they find becomes rows of results/bench/DATE-MACHINE.csv,
and tables of results/bench/measurements.md.

    bench.py              all of them, which takes hours
    bench.py --quick      all within ten minutes, with fewer pairs; the rows and tables stay in the build folder
    bench.py --only peer-bench step-bench
"""

import argparse
import datetime
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[1]
QUICK_S = 600.0


def steps_of(build):
    """The environment of all benchmarks, and each benchmark's name, seconds of a quick run, and command."""
    file = build / "benchmarks.txt"
    if not file.is_file():
        sys.exit(f"bench.py: no {file}; build the target `benchmarks` first, or name another folder with --build")
    environment, *steps = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines())
    return dict(word.split("=", 1) for word in environment if word), [(name, float(seconds), words) for name, seconds, *words in steps]


def machine():
    """The kind of processor, with -vm for a virtual machine: epyc-vm, xeon."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = (re.search(r"model name\s*:\s*(.*)", text) or [""] * 2)[1].lower()
    kind = next((kind for kind in ("epyc", "xeon", "core", "ryzen") if kind in model), "machine")
    return kind + ("-vm" if re.search(r"^flags\s*:.*\bhypervisor\b", text, re.MULTILINE) else "")


def load():
    """Other load on the machine, measured for two seconds in /proc/stat."""
    def times():
        fields = pathlib.Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
        return [int(field) for field in fields]

    before = times()
    time.sleep(2)
    spent = [after - earlier for after, earlier in zip(times(), before)]
    busy = 100.0 * (1.0 - (spent[3] + spent[4]) / max(1, sum(spent)))
    return "quiet" if busy < 5.0 else f"other work took {busy:.0f} % of the CPUs"


def version():
    found = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"], capture_output=True, text=True)
    return found.stdout.strip()


def run(name, words, environment, limit_s):
    """True if the benchmark succeeded, was skipped, or was cut off at the time limit."""
    print(f"---- {name}", flush=True)
    process = subprocess.Popen(words, env=environment, start_new_session=True)
    try:
        status = process.wait(limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        print(f"{name}: cut off after {limit_s:.0f} s; its results until then are kept", flush=True)
        return True
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGTERM)
        raise
    if status != 0:
        print(f"{name}: ended with {status}", file=sys.stderr, flush=True)
    return status in (0, 77)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder")
    parser.add_argument("--quick", action="store_true", help="within ten minutes")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these benchmarks")
    parser.add_argument("--list", action="store_true", help="print the names of the benchmarks and exit")
    parser.add_argument("--machine", default=machine(), help="its name in results/bench/measurements.md")
    parser.add_argument("--load", help="what else runs there (default: measured)")
    options = parser.parse_args()

    build = options.build.resolve()
    environment, steps = steps_of(build)
    names = [name for name, *_ in steps]
    if options.list:
        print(*names, sep="\n")
        return
    for name in options.only or []:
        if name not in names:
            sys.exit(f"bench.py: no benchmark '{name}' (bench.py --list shows all)")
    chosen = [step for step in steps if step[0] in (options.only or names)]

    today = datetime.datetime.now(datetime.timezone.utc).date()
    csv = build / "bench-quick.csv" if options.quick else FOLDER / f"{today}-{options.machine}.csv"
    if options.quick:
        csv.unlink(missing_ok=True)
    environment = {**os.environ, **environment, "CROSSTALK_BENCH_CSV": str(csv), "CROSSTALK_BENCH_MACHINE": options.machine,
                   "CROSSTALK_BENCH_LOAD": options.load or load(), "CROSSTALK_BENCH_VERSIONS": version(),
                   **({"CROSSTALK_BENCH_QUICK": "1"} if options.quick else {})}
    end = time.monotonic() + QUICK_S
    failed = []
    for i, (name, seconds, words) in enumerate(chosen):
        share = seconds / sum(others for _, others, _ in chosen[i:])
        limit_s = max(1.0, end - time.monotonic()) * share if options.quick else None
        if not run(name, words, environment, limit_s):
            failed.append(name)
    if csv.is_file():
        tables = ["--file", csv] if options.quick else ["--write"]
        subprocess.run([sys.executable, FOLDER / "tables.py", *tables], check=True)
    if failed:
        sys.exit(f"bench.py: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
