#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A synthetic recording of two GPUs, out of order and with gaps, is converted to an archive by trace-convert. OTF2's
Python bindings read it: streams are monotone, each kernel is at its place and time, after the call that launched it,
and missing records are counted.

    gpu_activities_test.py BIN     exit code 77: no python3-otf2
"""
import collections
import json
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import otf2
except ImportError:
    print("SKIPPED: no python3-otf2")
    sys.exit(77)

LAUNCHES = 6000
STREAMS = [(0, 7), (0, 13), (1, 7)]
THREADS = [4711, 4712]
KERNELS = ["gemm", "relu", "ncclDevKernel_AllReduce_Sum_f32_RING_LL"]
OFFSET_NS = 5_000_000_000  # the recording's clock is this far behind the trace's ..
DRIFT = 2e-5  # .. and runs slower
READ_ERROR_NS = 150
BEGIN_NS = 9_000_000_000


def recorded(true_ns):
    return round((true_ns - OFFSET_NS) * (1.0 - DRIFT))


def program(chance):
    """Activities of the program: calls, and what each started, in true time."""
    free = {stream: BEGIN_NS for stream in STREAMS}
    now = {thread: BEGIN_NS for thread in THREADS}
    calls, works, others = [], [], []
    for number in range(LAUNCHES):
        correlation = number + 1
        thread = chance.choice(THREADS)
        stream = chance.choice(STREAMS)
        begin = now[thread] + chance.randrange(1_000, 9_000)
        end = begin + chance.randrange(2_000, 6_000)
        kind = chance.choice(["kernel", "kernel", "kernel", "copy", "set", "wait"])
        if kind == "wait":
            end = max(end, free[stream])
            calls.append((thread, "cudaStreamSynchronize", begin, end, correlation))
            others.append({"kind": "waits", "correlation": correlation, "stream": stream[1]})
        else:
            name = {"kernel": chance.choice(KERNELS), "copy": "host to device", "set": ""}[kind]
            calls.append((thread, "cudaLaunchKernel" if kind == "kernel" else "cudaMemcpyAsync", begin, end, correlation))
            start = max(free[stream], begin + chance.randrange(300, 4_000))
            free[stream] = start + chance.randrange(1_000, 30_000)
            works.append((stream, kind, name, start, free[stream], correlation, chance.randrange(1, 1 << 30)))
            if number % 10 == 0:
                others.append({"kind": "belongs", "correlation": correlation, "id": 100_000 + number})
        now[thread] = end
    return calls, works, others


def lines_of(calls, works, others, chance):
    """Records in the order of CUPTI: buffers whose records are in any order, each after a look at the clocks."""
    timed = []
    for thread, name, begin, end, correlation in calls:
        timed.append((begin, {"kind": "call", "name": name, "begin_ns": recorded(begin), "end_ns": recorded(end),
                              "thread": thread, "correlation": correlation}))
    for (device, stream), kind, name, begin, end, correlation, size in works:
        record = {"kind": kind, "begin_ns": recorded(begin), "end_ns": recorded(end), "device": device, "stream": stream,
                  "correlation": correlation}
        record.update({"name": name} if kind != "set" else {})
        record.update({"bytes": size} if kind != "kernel" else {})
        timed.append((begin, record))
    timed.sort(key=lambda pair: pair[0])

    def look(true_ns):
        error = chance.randrange(20, READ_ERROR_NS)
        return {"kind": "clock", "recorded_ns": recorded(true_ns), "trace_ns": true_ns + chance.randint(-error, error),
                "error_ns": error}

    lines = [look(BEGIN_NS - 1_000_000)]
    for first in range(0, len(timed), 700):
        buffer = timed[first:first + 700]
        lines.append(look(max(begin for begin, _ in buffer) + 10_000_000))
        records = [record for _, record in buffer]
        chance.shuffle(records)
        lines.extend(records)
    lines[1:1] = others
    return lines


def read(anchor):
    """Slices by location (region, begin, end, attributes), and the definitions of Score-P's conventions."""
    slices = collections.defaultdict(list)
    open_ones = collections.defaultdict(list)
    latest = {}
    with otf2.reader.open(str(anchor)) as trace:
        definitions = trace.definitions
        properties = {one.name.lower(): one.value for one in definitions.location_group_properties}
        for location, event in trace.events:
            assert event.time >= latest.get(location.name, 0), f"{location.name} goes back at {event.time}"
            latest[location.name] = event.time
            if isinstance(event, otf2.events.Enter):
                attributes = {attribute.name: value for attribute, value in (event.attributes or {}).items()}
                open_ones[location.name].append((event.region.name, event.time, attributes))
                assert event.region.paradigm == otf2.Paradigm.CUDA, event.region
            elif isinstance(event, otf2.events.Leave):
                name, begin, attributes = open_ones[location.name].pop()
                assert name == event.region.name
                slices[location.name].append((name, begin, event.time, attributes))
        for location in definitions.locations:
            on_gpu = location.name.startswith("CUDA[")
            kind = otf2.LocationType.ACCELERATOR_STREAM if on_gpu else otf2.LocationType.CPU_THREAD
            assert location.type == kind, location
            group = location.group
            expected = otf2.LocationGroupType.ACCELERATOR if on_gpu else otf2.LocationGroupType.PROCESS
            assert group.location_group_type == expected, group
            if on_gpu:
                assert group.creating_location_group.location_group_type == otf2.LocationGroupType.PROCESS, group
    return slices, properties


def check(slices, properties, calls, works, others, error_ns):
    """Asserts that nothing is added, nothing is missing, and all is at its time."""
    begin_of_call = {}
    for thread in THREADS:
        found = {one[3]["correlation"]: one for one in slices[f"CUDA calls of thread {thread}"]}
        wanted = {call[4]: call for call in calls if call[0] == thread}
        assert found.keys() == wanted.keys()
        for correlation, (name, begin, end, _) in found.items():
            assert name == wanted[correlation][1]
            assert abs(begin - wanted[correlation][2]) <= error_ns and abs(end - wanted[correlation][3]) <= error_ns
            begin_of_call[correlation] = begin
    launched = 0
    for device, stream in STREAMS:
        found = {one[3]["correlation"]: one for one in slices[f"CUDA[{device}:{stream}]"]}
        wanted = {work[5]: work for work in works if work[0] == (device, stream)}
        assert found.keys() == wanted.keys(), f"{len(found)} for {len(wanted)}"
        for correlation, (name, begin, end, attributes) in found.items():
            _, kind, made, true_begin, true_end, _, size = wanted[correlation]
            assert name == {"kernel": made, "copy": "memcpy host to device", "set": "memset"}[kind]
            assert abs(begin - true_begin) <= error_ns, f"{begin - true_begin} ns off"
            assert abs(end - true_end) <= error_ns
            assert attributes.get("bytes") == (None if kind == "kernel" else size)
            if correlation in begin_of_call:
                assert begin >= begin_of_call[correlation], f"{name} {correlation} before its launch"
                launched += 1
    slice_of = {one[3]["correlation"]: one for row in slices.values() for one in row if one[0].startswith("cuda")}
    for other in others:
        if other["correlation"] in slice_of:
            attributes = slice_of[other["correlation"]][3]
            assert attributes.get("waits for stream") == other.get("stream")
            assert attributes.get("External id") == other.get("id")
    return launched


def main(programs):
    chance = random.Random(20251124)
    calls, works, others = program(chance)
    made = len(calls) + len(works)
    calls = [call for call in calls if chance.random() > 0.05]
    works = [work for work in works if chance.random() > 0.05]
    dropped = made - len(calls) - len(works)
    known = {call[4] for call in calls}
    lines = lines_of(calls, works, others, chance)
    assert len(lines) > 10_000, len(lines)
    half = len(lines) // 2
    lines[half:half] = [{"kind": "dropped", "records": dropped - 7}, {"kind": "dropped", "records": 7}]
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
        folder = pathlib.Path(name)
        (folder / "two-gpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        said = subprocess.run([programs / "trace-convert", folder / "two-gpus.jsonl", "-o", folder / "archive"], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        slices, properties = read(folder / "archive/traces.otf2")
        info = subprocess.run([programs / "trace-info", "--check", folder / "archive/traces.otf2"], check=False,
                              stdout=subprocess.PIPE, text=True)
        assert info.returncode == 0, info.stdout
    error_ns = int(properties["crosstalk::gpu_clock_error_ns"])
    assert error_ns < 4 * READ_ERROR_NS, f"a residual of {error_ns} ns"
    launched = check(slices, properties, calls, works, others, error_ns)
    without = sum(work[5] not in known for work in works)
    assert int(properties["crosstalk::gpu_activities"]) == len(calls) + len(works)
    assert int(properties["crosstalk::gpu_dropped"]) == dropped
    assert int(properties["crosstalk::gpu_without_launch"]) == without
    assert int(properties["crosstalk::gpu_late"]) == int(properties["crosstalk::gpu_before_launch"]) == 0
    assert f"{dropped} dropped when recorded\n" in said and f"{without} without the call" in said, said
    print(f"{len(lines)} records, {launched} of {len(works)} after the call that launched them, clocks within {error_ns} ns")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
