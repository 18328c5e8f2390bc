#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares trace-os with two other instruments over the same seconds.

    accuracy.py [--seconds 60]

First, a thread waits for a CPU that another thread uses: its waits by trace-os's eBPF programs are compared with schedstat's.
Second, a loop does nothing but read the clock, as osnoise does: interruptions by trace-os are compared with the gaps that
the loop finds. Needs root. CROSSTALK_BIN names the folder of the programs. Exit code 1 if the waits differ by 1 % or the
interruptions by 5 %."""
import argparse
import os
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "trace-tools/tests"))
import os_test

TRACE_OS = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin")) / "trace-os"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    seconds = parser.parse_args().seconds
    cpu = max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="crosstalk-accuracy.") as scratch:
        with os_test.Busy("victim", cpu) as victim, os_test.Busy("taker", cpu):
            _, _, record, rows = os_test.watch(TRACE_OS, [victim.pid], pathlib.Path(scratch) / "waits", f"{seconds}s")
        if record["sources"]["bpf"] is not True:
            print(f"skipped: {record['sources']['bpf']}", file=sys.stderr)
            sys.exit(77)
        by_kernel, by_schedstat = os_test.waits_by_both(rows)
        by_trace_os, by_probe, seen = os_test.interruptions_by_both(TRACE_OS, cpu, pathlib.Path(scratch) / "probe", seconds)
    waits, gaps = by_kernel / by_schedstat - 1, by_trace_os / by_probe - 1
    print(f"load {os.getloadavg()[0]:.1f}")
    print(f"waits for a CPU: {by_kernel:.1f} ms, schedstat {by_schedstat:.1f} ms: {100 * waits:+.2f} %")
    print(f"interruptions: {by_trace_os:.1f} ms, gaps of the loop {by_probe:.1f} ms: {100 * gaps:+.2f} %; "
          f"{100 * seen:.2f} % of those above 20 us are gaps")
    sys.exit(abs(waits) >= 0.01 or abs(gaps) >= 0.05)


if __name__ == "__main__":
    main()
