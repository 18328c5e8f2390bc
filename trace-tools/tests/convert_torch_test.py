#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace of PyTorch's profiler, compressed, is converted to an archive by trace-convert and from there to Perfetto's
format: its slices are those of the original.

    convert_torch_test.py BIN     exit code 77: no PyTorch
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
    from torch.profiler import ProfilerActivity, profile, record_function
except ImportError:
    print("SKIPPED: no PyTorch")
    sys.exit(77)


def profiled(file):
    """Profiles some steps of a small model."""
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with profile(activities=[ProfilerActivity.CPU]) as recorded:
        for _ in range(3):
            with record_function("step"):
                optimizer.zero_grad()
                model(torch.randn(8, 16)).sum().backward()
                optimizer.step()
    recorded.export_chrome_trace(str(file))


def events_of(file):
    trace = json.loads(file.read_text())
    return trace if isinstance(trace, list) else trace["traceEvents"]


def complete_slices(file):
    """The number of complete events by name and length in ns."""
    return collections.Counter((event["name"], round(event["dur"] * 1000)) for event in events_of(file)
                               if event.get("ph") == "X")


def nested_slices(file):
    """The same, of begin and end events."""
    slices = collections.Counter()
    open_slices = collections.defaultdict(list)
    for event in events_of(file):
        row = open_slices[event.get("pid"), event.get("tid")]
        if event["ph"] == "B":
            row.append(event)
        elif event["ph"] == "E":
            begin = row.pop()
            slices[begin["name"], round((event["ts"] - begin["ts"]) * 1000)] += 1
    assert not any(open_slices.values()), "a slice never ends"
    return slices


def main(programs):
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
        folder = pathlib.Path(name)
        profiled(folder / "kineto.json")
        convert = str(programs / "trace-convert")
        (folder / "kineto.json.gz").write_bytes(gzip.compress((folder / "kineto.json").read_bytes()))
        subprocess.run([convert, folder / "kineto.json.gz", "-o", folder / "archive"], check=True)
        anchor = folder / "archive/traces.otf2"
        subprocess.run([programs / "trace-info", anchor, "--check"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([convert, anchor, "--perfetto", folder / "perfetto.json"], check=True)
        before, after = complete_slices(folder / "kineto.json"), nested_slices(folder / "perfetto.json")
        assert sum(before.values()) > 30, f"only {before}"
        assert before == after, f"lost {before - after}, new {after - before}"
        print(f"{sum(before.values())} slices of PyTorch {torch.__version__}: all of them arrived")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
