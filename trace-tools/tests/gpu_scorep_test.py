#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What trace-waits and trace-info report about the GPUs in Score-P's CUDA archive, compared with its events as
otf2-print lists them.

    gpu_scorep_test.py BIN     exit code 77: no otf2-print, or no ../shared/traces
"""
import csv
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ARCHIVE = pathlib.Path(__file__).resolve().parents[3] / "shared/traces/casita-2_cuda_simple/traces.otf2"
STREAMS = {"0": "8589934592", "1": "8589934593"}  # by rank


def events(archive):
    """Kind, location, time and the rest of each event; the stream that a call refers to follows its ENTER."""
    text = subprocess.run(["otf2-print", str(archive)], check=True, stdout=subprocess.PIPE, text=True).stdout
    found = []
    for line in text.splitlines():
        match = re.match(r"([A-Z_]+) +(\d+) +(\d+) *(.*)", line)
        if match:
            found.append([match[1], match[2], int(match[3]), match[4], None])
            continue
        stream = re.search(r'"CUDA_STREAM_REF" <\d+>; LOCATION; "[^"]*" <(\d+)>', line)
        if stream and found:
            found[-1][4] = stream[1]
    return found


def union(spans):
    total, until = 0, -1
    for begin, end in sorted(spans):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def truth(all_events):
    """By rank: unions of kernels and of copies, launch delays by turn, and waits of the host for its stream."""
    answer = {}
    for rank, stream in STREAMS.items():
        kernels, copies, opened, got = [], [], [], None
        launches, syncs, calls = [], [], []
        for kind, location, time, rest, refers in all_events:
            if location == stream:
                if kind == "ENTER":
                    opened.append(time)
                elif kind == "LEAVE":
                    kernels.append((opened.pop(), time))
                elif kind in ("RMA_GET", "RMA_PUT"):
                    got = time
                elif kind == "RMA_OP_COMPLETE_BLOCKING":
                    copies.append((got, time))
            elif location == rank:
                name = re.search(r'Region: "([^"]*)"', rest)
                if kind == "ENTER":
                    calls.append((name[1], time, refers))
                elif kind == "LEAVE":
                    name, begin, said = calls.pop()
                    if name == "cuLaunchKernel" and said == stream:
                        launches.append((begin, time))
                    if "Synchronize" in name or name in ("cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2"):
                        syncs.append((name, begin, time))
        delays = sorted(max(0, kernel[0] - launch[1]) for launch, kernel in zip(sorted(launches), sorted(kernels)))
        waited = 0
        for name, begin, end in syncs:
            ends = [span[1] for span in kernels + ([] if "Memcpy" in name else copies) if begin < span[1] <= end]
            waited += max(ends) - begin if ends else 0
        answer[rank] = {"busy_ns": union(kernels), "copy_ns": union(copies), "kernels": len(kernels),
                        "launched": min(len(launches), len(kernels)), "waited_ns": waited,
                        "launch_delay_p50_ns": delays[-(-len(delays) // 2) - 1], "launch_delay_most_ns": delays[-1]}
    return answer


def main(programs):
    if not ARCHIVE.exists() or shutil.which("otf2-print") is None:
        print("SKIPPED: no ../shared/traces, or no otf2-print")
        sys.exit(77)
    expected = truth(events(ARCHIVE))
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
        folder = pathlib.Path(name)
        subprocess.run([programs / "trace-waits", ARCHIVE, "-o", folder / "waits"], check=True, stdout=subprocess.PIPE)
        info = json.loads(subprocess.run([programs / "trace-info", "--json", ARCHIVE], check=True,
                                         stdout=subprocess.PIPE, text=True).stdout)
        subprocess.run([programs / "trace-path", ARCHIVE, "-o", folder / "path"], check=True, stdout=subprocess.PIPE)
        rows = list(csv.DictReader(open(folder / "waits/gpu_steps.csv", encoding="utf-8")))
        waits = list(csv.DictReader(open(folder / "waits/waits.csv", encoding="utf-8")))
        path = list(csv.DictReader(open(folder / "path/path.csv", encoding="utf-8")))
    tolerance_ns = 50  # the correction of clock offsets between ranks stretches their times slightly
    assert {row["rank"] for row in rows} == set(STREAMS), rows
    for rank, truth_of_rank in expected.items():
        own = [row for row in rows if row["rank"] == rank]
        for column, value in truth_of_rank.items():
            if column == "waited_ns":
                found = sum(float(wait["seconds"]) * 1e9 for wait in waits
                            if wait["pattern"] == "gpu_early_blocking_wait" and wait["rank"] == rank)
            elif len(own) > 1 and column.startswith("launch_delay"):
                continue  # by step
            else:
                found = sum(int(row[column]) for row in own)
            if len(own) > 1 and column != "waited_ns":
                assert found <= value + tolerance_ns, f"rank {rank} {column}: {found}, not {value}"
            else:
                assert abs(found - value) <= tolerance_ns, f"rank {rank} {column}: {found}, not {value}"
        for row in own:
            causes = sum(int(value) for column, value in row.items() if column.startswith("idle_") and column != "idle_ns")
            assert causes == int(row["idle_ns"]) == int(row["wall_ns"]) - int(row["busy_ns"]), row
        device = info["gpus"][int(rank)]
        assert abs(device["busy_ns"] - truth_of_rank["busy_ns"]) <= tolerance_ns, device
        assert device["kernels"] == truth_of_rank["kernels"], device
    on_gpu = sum(float(row["seconds"]) for row in path if row["region"].startswith(("_Z13jacobi", "_Z11copy")))
    assert on_gpu > 0, "no kernel is on the critical path"
    print(f"{sum(one['kernels'] for one in expected.values())} kernels of 2 ranks agree with otf2-print")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
