#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces of PyTorch's profiler as its versions 1.8 to 2.x, ROCm and others write them: what computes, what launched it,
what a step is, what is on the critical path, and what is said of the rest. Expected values are by hand.

    kineto_cases_test.py BIN
"""
import csv
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile


def slice_of(category, name, pid, tid, ts, dur, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def launch(number, ts, name="cudaLaunchKernel", **args):
    return slice_of("cuda_runtime", name, 100, 100, ts, 5, correlation=number, **args)


def kernel(number, ts, dur, name="gemm"):
    return slice_of("kernel", name, 0, 7, ts, dur, correlation=number)


class Converted:
    """What trace-convert printed about a file, and what the other tools compute from the archive."""

    def __init__(self, programs, folder, data, name="in.json"):
        self.programs, self.folder = programs, folder
        (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        self.out = folder / "out"
        done = subprocess.run([programs / "trace-convert", folder / name, "-o", self.out], capture_output=True, text=True)
        self.code, self.printed, self.error = done.returncode, done.stdout, done.stderr

    def run(self, tool, *words):
        done = subprocess.run([self.programs / tool, self.out / "traces.otf2", *words], capture_output=True, text=True)
        assert done.returncode == 0, (tool, done.stderr)
        return done.stdout

    def gpu(self):
        (gpu,) = json.loads(self.run("trace-info", "--json"))["gpus"]
        return gpu

    def path(self):
        self.run("trace-path", "-o", self.folder / "path")
        with open(self.folder / "path/path.csv", newline="") as table:
            return {row["region"]: round(float(row["seconds"]) * 1e9) for row in csv.DictReader(table)
                    if float(row["seconds"]) > 0}


def check_annotations(converted):
    """The host's range that PyTorch repeats on the stream is not a kernel, nor is a wait that CUPTI recorded."""
    for beside in (slice_of("gpu_user_annotation", "train_step", 0, 7, 10, 100),
                   slice_of("cuda_sync", "Stream Sync", 0, 7, 31, 58, correlation=3),
                   slice_of("cuda_sync", "Context Sync", 0, -1, 31, 58, correlation=3)):
        trace = converted([launch(1, 0), launch(2, 80), kernel(1, 10, 10), kernel(2, 100, 10), beside])
        gpu = trace.gpu()
        assert (gpu["busy_ns"], gpu["kernels"], gpu["streams"]) == (20_000, 2, [gpu["streams"][0]]), gpu
        assert "2 of 2 kernels" in trace.run("trace-waits"), trace.run("trace-waits")
        path = trace.path()
        assert path["gemm"] == 10_000 and sum(path.values()) == 110_000, path
        assert beside["name"] not in path, path


def check_old(converted):
    """PyTorch 1.8 to 1.12: categories Operator, Runtime, Kernel, and "external id" in lower case."""
    events = [slice_of("Operator", "aten::mm", 100, "100", 0, 20, **{"External id": 2}),
              slice_of("Runtime", "cudaLaunchKernel", 100, "100", 2, 5, correlation=1, **{"external id": 2}),
              slice_of("Kernel", "gemm", 0, "stream 7", 12, 30, correlation=1, **{"external id": 2}),
              slice_of("Runtime", "cudaDeviceSynchronize", 100, "100", 22, 25, correlation=2)]
    wanted = {"gemm": 30_000, "cudaLaunchKernel": 5_000, "cudaDeviceSynchronize": 5_000, "aten::mm": 2_000,
              "(outside of regions)": 5_000}
    for how in ("as it is", "Correlation", "by External id alone"):
        for event in events:
            number = event["args"].pop("correlation", event["args"].pop("Correlation", None))
            if number and how != "by External id alone":
                event["args"]["correlation" if how == "as it is" else how] = number
        trace = converted(events)
        waits = trace.run("trace-waits")
        assert "median 5.000 us" in waits and "1 of 1 kernels" in waits, (how, waits)
        assert "gpu_early_blocking_wait: 2e-05 s in 1 calls" in waits, (how, waits)
        assert trace.path() == wanted, (how, trace.path())


def check_spans(converted):
    """The profiler's own span is not work; a thread that only waits is not on the critical path, although it ends
    last."""
    trace = converted([slice_of("cpu_op", "aten::mm", 100, 100, 5, 20), launch(1, 10), kernel(1, 20, 50),
                       slice_of("cuda_runtime", "cudaDeviceSynchronize", 100, 100, 30, 45, correlation=2),
                       slice_of("python_function", "threading.py: wait", 100, 101, 0, 200),
                       slice_of("Trace", "PyTorch Profiler (0)", "Spans", "PyTorch Profiler", 0, 300)])
    assert "left out: spans of the profiler itself (1)\n" in trace.printed, trace.printed
    assert "PyTorch Profiler" not in trace.run("trace-info")
    path = trace.path()
    assert path["gemm"] == 50_000 and "threading.py: wait" not in path and sum(path.values()) == 75_000, path


def check_steps(converted):
    """The ranges of torch.profiler's step() are the steps, on whatever thread."""
    events = [slice_of("user_annotation", f"ProfilerStep#{k}", 100, 200, 1000 * k, 900) for k in range(5, 9)]
    events += [slice_of("cpu_op", "aten::mm", 100, 200, 1000 * k + 100, 300) for k in range(5, 9)]
    events += [slice_of("cpu_op", "pin_memory", 100, 100, 5000, 4000)]
    trace = converted(events)
    trace.run("trace-steps", "-o", trace.folder / "steps")
    with open(trace.folder / "steps/steps.csv", newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["step"] for row in rows] == ["5", "6", "7", "8"], rows
    for row in rows:
        assert int(row["end_ns"]) - int(row["begin_ns"]) == 900_000, row
        assert (row["aten::mm_ns"], row["other_ns"]) == ("300000", "600000"), row


def check_early(converted):
    """A GPU's clock is 13 us early, so kernels begin before their launch (ROCm)."""
    trace = converted([launch(k, 100 * k, "hipLaunchKernel") for k in range(1, 9)] + [kernel(k, 100 * k - 8, 10)
                                                                                     for k in range(1, 9)])
    assert "8 before their launch: the GPU's clock is wrong\n" in trace.printed, trace.printed
    assert "8 kernels begin before their launch: the GPU's clock is wrong\n" in trace.run("trace-waits")
    assert "HIP" in trace.run("trace-info")


def check_begins_and_ends(converted):
    """Begin and end events are read like complete ones; those without a partner are counted."""
    trace = converted([{"ph": "B", "name": "outer", "pid": 1, "tid": 1, "ts": 0},
                       slice_of("cpu_op", "aten::mm", 1, 1, 10, 5), {"ph": "E", "pid": 1, "tid": 1, "ts": 100},
                       {"ph": "E", "pid": 1, "tid": 1, "ts": 101}, {"ph": "B", "name": "open", "pid": 1, "tid": 1, "ts": 102},
                       {"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": 50}])
    assert "1 events never end" in trace.printed and "1 end events without a begin event" in trace.printed
    assert "left out: instant events (1)\n" in trace.printed, trace.printed
    regions = {row["name"]: row for row in json.loads(trace.run("trace-info", "--json"))["regions"]}
    assert regions["outer"]["inclusive_ns"]["sum"] == 100_000, regions
    assert regions["aten::mm"]["inclusive_ns"]["sum"] == 5_000, regions
    again = trace.folder / "perfetto.json"
    trace.run("trace-convert", "--perfetto", again)
    (trace.folder / "back").mkdir()
    back = Converted(trace.programs, trace.folder / "back", again.read_bytes())
    assert back.code == 0, back.error
    assert {row["name"] for row in json.loads(back.run("trace-info", "--json"))["regions"]} == set(regions)


def check_containers(converted):
    """In a container annotations have another process number, and its first process has the number of GPU 1."""
    named = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
             {"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "args": {"labels": "GPU 1"}}]
    trace = converted(named + [slice_of("user_annotation", "ProfilerStep#1", 4711, 4711, 0, 90),
                               slice_of("cuda_runtime", "cudaLaunchKernel", 1, 1, 10, 5, correlation=1),
                               slice_of("kernel", "gemm", 1, 7, 20, 30, correlation=1)])
    assert trace.gpu()["name"] == "GPU 1" and trace.gpu()["busy_ns"] == 30_000, trace.gpu()
    waits = trace.run("trace-waits")
    assert "1 GPU in 1 step, 0.000090 s in all: computing 33.33 %" in waits, waits


def check_broken(convert_text):
    """JSON that PyTorch writes incorrectly is repaired; other errors are named with line and column."""
    event = '{"ph": "X", "cat": "python_function", "name": "%s", "pid": 1, "tid": 1, "ts": %s, "dur": 1, "args": {"x": %s}}'
    for name, ts, number, wanted in ((r"torch\cuda\__init__.py", "1", "1", r"torch\cuda\__init__.py"), ("a\x02b", "1", "1", "a"),
                                     ("nan", "1", "N/A", "nan"), ("inf", "1", "-inf", "inf"), (r"\u12", "1", "NaN", r"\u12"),
                                     ("late", '"1778400000000000.123"', "1", "late")):
        trace = convert_text('{"traceEvents": [\n' + event % (name, ts, number) + "]}")
        assert trace.code == 0, (name, trace.error)
        assert ("repaired" in trace.printed) == (name != "late"), trace.printed
        (region,) = json.loads(trace.run("trace-info", "--json"))["regions"]
        assert region["name"].startswith(wanted), region
    wrong, cut = event % ("a", "1", "nonsense"), event % ("a", "1", "1")
    for line, place in ((wrong + "]}", f"breaks at line 2, column {wrong.index('nonsense') + 2}"),
                        (cut, f"ends at line 2, column {len(cut)}")):
        trace = convert_text('{"traceEvents": [\n' + line)
        assert trace.code == 1 and place in trace.error, (place, trace.error)


def check_hostile(convert_text):
    """Depth, length and size are bounded: one line, little memory."""
    for member in ("name", "cat", "pid", "tid", "ph"):
        event = {"ph": '"X"', "name": '"n"', "cat": '"c"', "pid": "1", "tid": "2", "ts": "5", "dur": "1"}
        event[member] = "[" * 100_000 + "]" * 100_000
        trace = convert_text('{"traceEvents":[{' + ",".join(f'"{key}":{value}' for key, value in event.items()) + "}]}")
        assert trace.code == 1 and "more than 64 levels at line 1" in trace.error, trace.error
        assert trace.error.count("\n") == 1, trace.error
    good = json.dumps(slice_of("cpu_op", "a", 1, 2, 9, 1))
    bomb = '{"other":[' + "1," * 5_000_000 + '1],"traceEvents":[' + good + "]}"
    trace = convert_text(gzip.compress(bomb.encode()), "in.json.gz")
    assert trace.code == 0, trace.error
    for text, why in ((good.replace('"a"', '"' + "a" * 2_000_000 + '"'), "the text at line 1 is too long"),
                      (good.replace("9", "9" * 2_000), "the number at line 1 is too long"),
                      (good.replace("{}", "[" + "1," * 200_000 + "1]"), "an event of more than 100000 values")):
        trace = convert_text(gzip.compress(f"[{text}]".encode()), "in.json.gz")
        assert trace.code == 1 and why in trace.error and trace.error.count("\n") == 1, (why, trace.error)


def check_cut_off(convert_text):
    """A compressed file that is truncated, or has a wrong checksum, is an error in both formats."""
    lines = ['{"kind":"clock","recorded_ns":1000,"trace_ns":5001000,"error_ns":40}']
    lines += [f'{{"kind":"set","begin_ns":{1000 + 10 * i},"end_ns":{1005 + 10 * i},"device":0,"stream":7,"bytes":8}}'
              for i in range(5000)]
    events = "[" + ",".join(json.dumps(slice_of("cpu_op", f"a{i}", 1, 2, i, 1)) for i in range(2000)) + "]"
    for name, text in (("in.jsonl.gz", "\n".join(lines) + "\n"), ("in.json.gz", events)):
        whole = gzip.compress(text.encode())
        assert convert_text(whole, name).code == 0
        for broken in (whole[:len(whole) // 2], whole[:-8] + bytes([whole[-8] ^ 1]) + whole[-7:]):
            trace = convert_text(broken, name)
            assert trace.code == 1 and "is compressed, and damaged or cut off" in trace.error, (name, trace.error)
            assert not trace.out.exists()


def main(programs):
    for check in (check_annotations, check_old, check_spans, check_steps, check_early, check_begins_and_ends, check_containers,
                  check_broken, check_hostile, check_cut_off):
        with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
            count = 0

            def convert(data, file="in.json"):
                nonlocal count
                count += 1
                folder = pathlib.Path(name) / str(count)
                folder.mkdir()
                return Converted(programs, folder, data, file)

            def convert_events(events):
                done = convert(json.dumps({"traceEvents": events}))
                assert done.code == 0, done.error
                return done

            of_text = check in (check_broken, check_hostile, check_cut_off)
            check(convert if of_text else convert_events)
        print(check.__doc__.strip().split("\n")[0])


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
