#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real traces of PyTorch's profiler, CUDA's and ROCm's, some of graphs: each GPU's busy time is the union of its kernels as
the JSON has them, to the microsecond; each kernel has its launch; the critical path holds a kernel or a call.

    kineto_real_test.py BIN     exit code 77: no ../shared/traces
"""
import collections
import csv
import decimal
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

TRACES = pathlib.Path(__file__).resolve().parents[3] / "shared/traces/kineto"
CALLS = ("cuda_runtime", "cuda_driver", "runtime", "hip_runtime")


def events_of(file):
    with gzip.open(file, "rt", errors="replace") as text:
        events = json.load(text, parse_float=decimal.Decimal)["traceEvents"]
    return [event for event in events if isinstance(event, dict) and event.get("ph") == "X"]


def union_ns(spans):
    busy, end = 0, None
    for begin, until in sorted(spans):
        if end is None or until > end:
            busy += until - (begin if end is None else max(begin, end))
            end = until
    return int(busy * 1000)


def truth(events):
    """By GPU: spans of its kernels in us; and the names of kernels and calls."""
    kernels, names = collections.defaultdict(list), set()
    for event in events:
        category = str(event.get("cat", "")).lower()
        if category == "kernel":
            begin = decimal.Decimal(event["ts"])
            kernels[str(event["args"].get("device", event["pid"]))].append((begin, begin + decimal.Decimal(event["dur"])))
        if category == "kernel" or category in CALLS:
            names.add(event["name"])
    return kernels, names


def check(programs, file, folder):
    kernels, names = truth(events_of(file))
    run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True).stdout
    run(programs / "trace-convert", file, "-o", folder / "out")
    anchor = folder / "out/traces.otf2"
    gpus = json.loads(run(programs / "trace-info", anchor, "--json"))["gpus"]
    assert len(gpus) == len(kernels), (gpus, list(kernels))
    for gpu in gpus:
        spans = kernels[gpu["name"].split()[-1]]
        assert gpu["kernels"] == len(spans), (gpu, len(spans))
        both = gpu["busy_ns"] + gpu["exchange_ns"]
        wanted = union_ns(spans)
        assert both == wanted if gpu["exchange_ns"] == 0 else gpu["busy_ns"] <= wanted <= both, (gpu, wanted)
    run(programs / "trace-waits", anchor, "-o", folder / "waits")
    with open(folder / "waits/gpu_steps.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    assert rows and all(row["kernels"] == row["launched"] for row in rows), rows
    if all(row["step"] == "-1" for row in rows):
        union = sum(int(row["busy_ns"]) + int(row["exchange_ns"]) - int(row["exchange_overlapped_ns"]) for row in rows)
        wanted = sum(union_ns(spans) for spans in kernels.values())
        assert abs(union - wanted) <= 1000, (union, wanted)
    run(programs / "trace-path", anchor, "-o", folder / "path")
    with open(folder / "path/path.csv", newline="") as table:
        found = {row["region"] for row in csv.DictReader(table) if float(row["seconds"]) > 0}
    assert found & names, found
    assert not any(name.startswith("PyTorch Profiler") for name in found), found
    print(f"{file.name}: {sum(map(len, kernels.values()))} kernels")


def main(programs):
    if not TRACES.exists():
        print("SKIPPED: no ../shared/traces/kineto")
        sys.exit(77)
    for file in sorted(TRACES.glob("*.json.gz")):
        with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
            check(programs, file, pathlib.Path(name))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
