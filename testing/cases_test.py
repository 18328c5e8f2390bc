#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Every case of ../shared/cases: an input that once gave a wrong answer gives the right one.

    cases_test.py BIN [--all] [--only NAME..] [--python PYTHON]     exit code 77: no ../shared/cases

Right values are those of the cases' READMEs, or follow from their generators by hand. Without --all the
cases that need a run of several seconds are left out. PYTHON is an interpreter with PyTorch, for own jobs.
"""

import argparse
import contextlib
import csv
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared/cases"
DEBIAN_PYTHON = "/usr/bin/python3"
CASES = {}


class Skip(Exception):
    """Raised by a case; says what it needs and this machine lacks."""


def case(name, right, slow=False):
    """Registers a case. Its function returns the answer, which should equal `right`; or the answer and whether it is
    right."""

    def register(function):
        CASES[name] = (function, right, slow)
        return function

    return register


def needs_root():
    if os.geteuid() != 0:
        raise Skip("not root")


def needs_module(python, *modules):
    for module in modules:
        if subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode != 0:
            raise Skip(f"no Python module {module}")


def needs_of_torch(python, name):
    """Skips the case if the interpreter's PyTorch is too old."""
    if subprocess.run([python, "-c", f"import torch; {name}"], capture_output=True, check=False).returncode != 0:
        raise Skip(f"no {name} in this PyTorch")


@dataclasses.dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def signal(self):
        return self.code < 0 or self.code >= 128 or "Sanitizer" in self.err

    @property
    def refused(self):
        """Whether a program ended with 1 or 2, and one line with the reason."""
        return self.code in (1, 2) and self.err.count("\n") == 1 and "exception" not in self.err


class Place:
    """A case's scratch folder, with a copy of its files, and the programs."""

    def __init__(self, programs, folder, name, python):
        self.bin, self.python = programs, python
        self.folder = folder / name
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        source = SHARED / name
        if source.is_dir():
            shutil.copytree(source, self.folder)
        else:
            self.folder.mkdir()
        for path in [self.folder, *self.folder.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        shutil.copy(SHARED / "mk.py", self.folder.parent / "mk.py")
        self.environment = {
            **os.environ,
            "PATH": f"{programs}:{os.environ['PATH']}",
            "CROSSTALK_BIN": str(programs),
            "PYTHONDONTWRITEBYTECODE": "1",
            "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMP_NUM_THREADS": "1",
            "PYTHON": python,
        }

    def needs(self, *programs):
        for program in programs:
            if shutil.which(program, path=self.environment["PATH"]) is None:
                raise Skip(f"no {program}")

    def start(self, *words, **named):
        named = {
            "cwd": self.folder,
            "env": self.environment,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "start_new_session": True,
            **named,
        }
        return subprocess.Popen([str(word) for word in words], **named)

    def run(self, *words, timeout=120, **named):
        """Runs a program; exit code 124: it took too long and was killed."""
        process = self.start(*words, **named)
        try:
            out, err = process.communicate(timeout=timeout)
            code = process.returncode
        except subprocess.TimeoutExpired:
            end(process)
            out, err = process.communicate()
            code = 124
        return Done(code, (out or b"").decode(errors="replace"), (err or b"").decode(errors="replace"))

    def good(self, *words, **named):
        done = self.run(*words, **named)
        assert done.code == 0, f"{words[0]}: exit code {done.code}: {done.err.strip()[-300:]}"
        return done.out

    def generate(self, script="gen.py", *words):
        text = (self.folder / script).read_text()
        modules = [module for module, word in (("h5py", "h5py"), ("otf2", "otf2"), ("otf2", "mk")) if word in text]
        needs_module(DEBIAN_PYTHON, *modules)
        self.good(DEBIAN_PYTHON, script, *words)

    def compile_with_otf2(self):
        self.needs("gcc")
        (self.folder / "empty.c").write_text("int main(void) { return 0; }\n")
        for library in ("-lotf2", "-lopen-trace-format2"):
            if self.run("gcc", "empty.c", "-o", "empty", library).code == 0:
                self.good("gcc", "gen.c", "-o", "gen", library)
                self.good("./gen", "out")
                return
        raise Skip("no OTF2 to link with")

    def convert(self, file="in.json", out="out"):
        return self.good("trace-convert", file, "-o", out)

    def info(self, anchor="out/traces.otf2"):
        return json.loads(self.good("trace-info", anchor, "--json"))

    def rows(self, tool, file, anchor="out/traces.otf2"):
        out = tempfile.mkdtemp(dir=self.folder)
        os.rmdir(out)
        self.good(tool, anchor, "-o", out)
        return table(pathlib.Path(out) / file)

    def waits(self, anchor="out/traces.otf2"):
        """Waiting time in ms by pattern, region and rank."""
        rows = self.rows("trace-waits", "waits.csv", anchor)
        return {
            f"{row['pattern']} in {row['region']}, rank {row['rank']}": in_ms(row["seconds"])
            for row in rows
            if float(row["seconds"]) > 0
        }

    def costs(self, anchor="out/traces.otf2"):
        rows = self.rows("trace-path", "path.csv", anchor)
        return {
            f"{row['region']}, rank {row['rank']}": in_ms(row["delay_cost_seconds"])
            for row in rows
            if float(row["delay_cost_seconds"]) > 0
        }

    def path_us(self, anchor="out/traces.otf2"):
        rows = self.rows("trace-path", "path.csv", anchor)
        return {row["region"]: round(float(row["seconds"]) * 1e6) for row in rows if float(row["seconds"]) > 0}

    def checkpoint(self, *words):
        self.needs("ddl-train")
        self.good(
            "ddl-train",
            "--model",
            "emulated[compute=1ms,gradients=64kB]",
            "--data",
            "synthetic[samples=64,height=8,width=8]",
            "--transport",
            "self",
            "--steps",
            "2",
            "--checkpoint-every",
            "2",
            "--trace",
            "off",
            "--out",
            "T",
            *words,
        )
        return self.folder / "T/train/checkpoints/step-000000002"


def table(file):
    with open(file, newline="") as rows:
        return list(csv.DictReader(rows))


def in_ms(seconds):
    return f"{float(seconds) * 1e3:.6g} ms"


def listed(found):
    return "; ".join(f"{key}: {value}" for key, value in found.items()) or "none"


def alive(pid):
    """Whether the process runs; a zombie does not."""
    try:
        return state_of(pid) not in "ZX"
    except OSError:
        return False


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]


def end(process):
    """Kills only what the test started, by its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def kill(pid):
    with contextlib.suppress(OSError):
        os.kill(pid, signal.SIGCONT)
        os.kill(pid, signal.SIGKILL)


def children_of(pid):
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found


def descendants_of(pid):
    children = children_of(pid)
    return children + [below for child in children for below in descendants_of(child)]


def command_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def until(condition, seconds):
    last = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < last:
        time.sleep(0.05)
    return found


# ---------------------------------------------------------------------------------------------- traces of PyTorch


@case("kineto-annotation", "computing 18.18 %, 2 kernels, 20 us; train_step not on the path")
def kineto_annotation(place):
    place.generate()
    place.convert()
    (gpu,) = place.info()["gpus"]
    share = re.search(r"computing [0-9.]+ %", place.good("trace-waits", "out/traces.otf2")).group()
    on_path = "" if "train_step" in place.path_us() else "not "
    return f"{share}, {gpu['kernels']} kernels, {gpu['busy_ns'] / 1000:g} us; train_step {on_path}on the path"


@case(
    "kineto-sync", "stream, context: computing 11.11 %, 1 of 1 kernels launched, a path without what CUPTI waited for"
)
def kineto_sync(place):
    place.generate()
    found = []
    for file in ("stream", "context"):
        place.convert(f"{file}.json", file)
        printed = place.good("trace-waits", f"{file}/traces.otf2")
        share = re.search(r"computing [0-9.]+ %", printed).group()
        launched = re.search(r"(\d+ of \d+ kernels)", printed).group()
        path = place.path_us(f"{file}/traces.otf2")
        wrong = [name for name in path if name in ("Stream Sync", "Context Sync")]
        found.append(
            f"{share}, {launched} launched, {'a path' if path else 'no path'} "
            f"{'with' if wrong else 'without'} what CUPTI waited for"
        )
    return "stream, context: " + " | ".join(dict.fromkeys(found))


@case("kineto-old", "launched 1 of 1, delay 5 us, gemm on the path, blocking wait 20 us; External id 2: 3 times")
def kineto_old(place):
    place.needs("otf2-print")
    place.generate()
    place.convert()
    printed = place.good("trace-waits", "out/traces.otf2")
    launched = re.search(r"(\d+ of \d+) kernels", printed).group(1)
    delay = float(re.search(r"median ([0-9.]+) us", printed).group(1))
    wait = float(re.search(r"gpu_early_blocking_wait: ([0-9.e-]+) s", printed).group(1)) * 1e6
    path = "gemm on the path" if "gemm" in place.path_us() else "no gemm on the path"
    ids = re.findall(r'\("External id" <\d+>; \w+; 2\)', place.good("otf2-print", "out/traces.otf2"))
    return (
        f"launched {launched}, delay {delay:g} us, {path}, blocking wait {wait:g} us; External id 2: {len(ids)} times"
    )


@case(
    "kineto-spans", "path of 70 us: gemm 50, aten::mm 5, cudaLaunchKernel 5, cudaDeviceSynchronize 5; no process Spans"
)
def kineto_spans(place):
    place.generate()
    place.convert()
    path = place.path_us()
    wanted = ("gemm", "aten::mm", "cudaLaunchKernel", "cudaDeviceSynchronize")
    parts = ", ".join(f"{name} {path.get(name, 0)}" for name in wanted)
    spans = "a" if "Spans" in place.good("trace-info", "out/traces.otf2") else "no"
    return f"path of {sum(path.values())} us: {parts}; {spans} process Spans"


@case("kineto-steps", "steps 5 to 8 of 900 us, aten::mm 300 us, other 600 us")
def kineto_steps(place):
    place.generate()
    place.convert()
    rows = place.rows("trace-steps", "steps.csv")
    spans = {
        f"{(int(row['end_ns']) - int(row['begin_ns'])) // 1000} us, "
        f"aten::mm {int(row['aten::mm_ns']) // 1000} us, other {int(row['other_ns']) // 1000} us"
        for row in rows
    }
    return f"steps {rows[0]['step']} to {rows[-1]['step']} of {' | '.join(spans)}"


@case("kineto-early", "8 before their launch: the GPU's clock is wrong")
def kineto_early(place):
    place.generate()
    printed = place.convert() + place.good("trace-waits", "out/traces.otf2")
    found = re.search(r"\d+ before their launch: the GPU's clock is wrong", printed)
    return found.group() if found else "no word"


@case("kineto-begin-end", "outer 100 us, aten::mm 5 us; its own Perfetto export is read back")
def kineto_begin_end(place):
    place.generate()
    place.convert()
    regions = {row["name"]: row["inclusive_ns"]["sum"] // 1000 for row in place.info()["regions"]}
    place.good("trace-convert", "out/traces.otf2", "--perfetto", "export.json")
    back = place.run("trace-convert", "export.json", "-o", "back")
    return (
        f"outer {regions.get('outer')} us, aten::mm {regions.get('aten::mm')} us; its own Perfetto export is "
        f"{'read back' if back.code == 0 else 'refused'}"
    )


@case("kineto-repair", "6 of 6 files read, with one event each")
def kineto_repair(place):
    place.good("bash", "gen.sh")
    files = sorted(place.folder.glob("*.json"))
    read = 0
    for file in files:
        if place.run("trace-convert", file, "-o", file.stem).code == 0:
            read += [
                row["visits"]["sum"] if isinstance(row["visits"], dict) else row["visits"]
                for row in place.info(f"{file.stem}/traces.otf2")["regions"]
            ] == [1]
    return f"{read} of {len(files)} files read, with one event each"


# ------------------------------------------------------------------------------------------------- archives of MPI


@case("tau-paradigm", "mpi_latesender in MPI_Recv(), rank 1: 5 ms")
def tau_paradigm(place):
    place.generate()
    return listed(place.waits())


@case("user-paradigm", "mpi_barrier_wait in MPI_Barrier, rank 0: 4 ms; mpi_latesender in MPI_Recv, rank 1: 5 ms")
def user_paradigm(place):
    place.generate()
    return listed(dict(sorted(place.waits().items())))


# Rank 0 waits 20 ms for the message. Rank 1 waits 4 ms in the barrier afterwards.
@case("probe", "mpi_latesender in MPI_Mprobe, rank 0: 20 ms; cause main, rank 1: 20 ms")
def probe(place):
    place.generate()
    late = {key: value for key, value in place.waits().items() if "latesender" in key}
    cost = {key: value for key, value in place.costs().items() if key.endswith("rank 1")}
    return f"{listed(late)}; cause {listed(cost)}"


@case("probe/live", "rank 0 waits 180 to 300 ms in MPI_Mprobe; cause: rank 1, in no MPI call", slow=True)
def probe_live(place):
    place.needs("mpicc", "mpirun", "trace-record")
    shutil.copy(SHARED / "probe/probe.c", place.folder)
    place.good("mpicc", "probe.c", "-o", "probe")
    place.good("mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2", "trace-record", "-o", "t", "--", "./probe")
    (anchor,) = (place.folder / "t").rglob("traces.otf2")
    late = sum(
        float(row["seconds"])
        for row in place.rows("trace-waits", "waits.csv", anchor)
        if row["pattern"] == "mpi_latesender" and row["region"] == "MPI_Mprobe" and row["rank"] == "0"
    )
    most = max(place.rows("trace-path", "path.csv", anchor), key=lambda row: float(row["delay_cost_seconds"]))
    came = f"rank 0 waits {late * 1e3:.0f} ms in MPI_Mprobe; cause: rank {most['rank']}, {most['region']}"
    return came, 0.18 <= late <= 0.3 and most["rank"] == "1" and not most["region"].startswith("MPI_")


@case(
    "coarse-clock",
    "message: mpi_latesender in MPI_Recv, rank 0: 5 ms, no line; " "barrier: 7 ms, rank 2 made the others wait 7.00 ms",
)
def coarse_clock(place):
    place.generate()
    line = "a line" if "before they are sent" in place.good("trace-waits", "message/traces.otf2") else "no line"
    printed = place.good("trace-waits", "barrier/traces.otf2")
    culprits = " and ".join(re.findall(r"rank \d made the others wait [0-9.]+ ms", printed))
    waited = sum(float(row["seconds"]) for row in place.rows("trace-waits", "waits.csv", "barrier/traces.otf2"))
    return f"message: {listed(place.waits('message/traces.otf2'))}, {line}; barrier: {in_ms(waited)}, {culprits}"


# The README's 20 ms of compute count the worker's own 10 ms against main's 5 ms. By Scalasca's rule, which compares
# regions one by one, compute was 25 ms longer and main 5 ms: 5/6 and 1/6 of the 20 ms.
@case("thread-cause", "compute, rank 0: 16.6667 ms; main, rank 0: 3.33333 ms")
def thread_cause(place):
    place.generate()
    return listed(dict(sorted(place.costs().items())))


@case("late-receiver-irecv", "mpi_latereceiver in MPI_Send, rank 0: 9 ms")
def late_receiver(place):
    found = []
    for request in ("10", "1"):
        place.generate("make.py", f"a{request}", request)
        found.append(listed(place.waits(f"a{request}/traces.otf2")))
    return " | ".join(dict.fromkeys(found))


@case("threads-collectives", "rank 1 made the others wait 10.00 ms: late_work")
def threads_collectives(place):
    place.generate("make.py", "t")
    printed = place.good("trace-waits", "t/traces.otf2")
    return (
        re.search(r"rank \d made the others wait [0-9.]+ ms( \(.*?\))?: .*", printed)
        .group()
        .replace(re.search(r" \([0-9.]+ %.*?\)|$", printed[printed.index("made the others") :]).group(), "")
    )


@case("eztrace", "analysed: 0 refused of 4 tools")
def eztrace(place):
    place.needs("eztrace", "mpicc", "mpirun")
    place.good("bash", "gen.sh")
    (anchor,) = place.folder.rglob("eztrace_log.otf2")
    done = [place.run(tool, anchor) for tool in ("trace-waits", "trace-path", "trace-steps")]
    refused = [one for one in done if one.code not in (0, 3)]
    checked = place.run("trace-info", anchor, "--check")
    refused += [] if checked.code == 0 else [checked]
    why = "; ".join(line for line in checked.out.splitlines() if line.startswith("problem"))
    return f"analysed: {len(refused)} refused of 4 tools{why and ': ' + why}"


@case("rocprofv3", "computing 0.300 ms, exchange 0.100, copies 0.100 of 0.980 ms; waits 0.40 ms in 10 calls")
def rocprofv3(place):
    place.compile_with_otf2()
    (gpu,) = place.info("out/results.otf2")["gpus"]
    printed = place.good("trace-waits", "out/results.otf2")
    copies = float(re.search(r"copies ([0-9.]+) %", printed).group(1))
    run = float(re.search(r"([0-9.]+) s in all: computing", printed).group(1)) * 1e3
    wait = re.search(r"gpu_early_blocking_wait: ([0-9.e-]+) s in (\d+) calls", printed)
    return (
        f"computing {gpu['busy_ns'] / 1e6:.3f} ms, exchange {gpu['exchange_ns'] / 1e6:.3f}, copies "
        f"{copies / 100 * run:.3f} of {run:.3f} ms; waits {float(wait.group(1)) * 1e3:.2f} ms in {wait.group(2)} calls"
    )


@case("lo2s", "102 events of calling contexts; 101.000 ms from the first to the last")
def lo2s(place):
    place.compile_with_otf2()
    printed = place.good("trace-info", "out/traces.otf2")
    events = re.search(r"\d+ events of calling contexts", printed)
    length = re.search(r"[0-9.]+ ms from the first to the last", printed)
    return f"{events.group() if events else 'no line'}; {length.group() if length else 'no length'}"


# --------------------------------------------------------------------------------------------------- stored states

BITS_THAT_DIFFER = """
import sys, h5py
for name in ("fc/weight", "fc/bias"):
    before, after = (h5py.File(file)[name][()].ravel().view("<u4") for file in sys.argv[1:])
    for number, change in enumerate(before ^ after):
        for bit in range(32):
            if int(change) >> (31 - bit) & 1:
                print(f"{number}:{bit}", end=" ")
"""


@case("replay-hdf5_corrupter", "one 9:17 | two 9:25 17:15 | three 0:10 16:23 23:1")
def replay_hdf5_corrupter(place):
    place.generate()
    found = []
    for file in ("one", "two", "three"):
        done = place.run("ddl-alter", "model.h5", "--replay", f"{file}.json", "--out", f"{file}.h5")
        bits = (
            place.good(DEBIAN_PYTHON, "-c", BITS_THAT_DIFFER, "model.h5", f"{file}.h5") if done.code == 0 else done.err
        )
        found.append(" ".join([file, *bits.split()]))
    return " | ".join(found)


@case("difference-l2", "l2 1e+200")
def difference_l2(place):
    place.good("ddl-alter", "difference", "a.h5", "b.h5", "--out", "d")
    return "l2 " + " ".join(
        f"{float(row['l2']):g}" for row in table(place.folder / "d/difference.csv") if row["l2"] not in ("", "0")
    )


@case("campaign-typo", "refused before the first trial: layer4")
def campaign_typo(place):
    place.needs("ddl-train")
    place.good("crosstalk", "campaign", "plan", "typo.ini", "-o", "C")
    done = place.run("crosstalk", "campaign", "run", "C")
    named = "layer4" if "'layer4'" in done.err else done.err
    return f"{'refused' if done.refused else f'exit code {done.code},'} before the first trial: {named}"


# 1/32 is 3.12 %; the share of the drawn trials is 2.78 %. With all strata as one population it would be 2.41 %.
@case("weights", "bit 1 has about 1/32 of the weight (it had 7.85 %); collapsed 2.41 %")
def weights(place):
    printed = place.good("interference", "outcomes", "RUN2", "--out", "report")
    weight = {row["trial"]: float(row["weight"] or 0) for row in table(place.folder / "report/trials.csv")}
    bits = {row["trial"]: row["bits"] for row in table(place.folder / "RUN2/train/outcomes.csv")}
    trials = [
        row["trial"]
        for row in table(place.folder / "RUN2/train/trials.csv")
        if row["kind"] == "trial" and row["target"] == "model" and ":" not in row["guard"]
    ]
    share = 100 * sum(weight[trial] for trial in trials if bits[trial] == "1") / sum(weight[trial] for trial in trials)
    collapsed = re.search(r"ddp, model.*?collapsed: \d+ of \d+ trials, ([0-9.]+ %)", printed, re.S).group(1)
    return f"bit 1 has {share:.2f} % of the weight; collapsed {collapsed}", 2 < share < 4 and collapsed == "2.41 %"


# --------------------------------------------------------------------------------------------------------- attacks


@case("attack/closed-streams", "exit code 0, 1 plan")
def closed_streams(place):
    done = place.run("bash", "-c", 'exec crosstalk campaign plan "$0" -o c <&-', ROOT / "jobscripts/specs/nightly.ini")
    return f"exit code {done.code}, {len(list(place.folder.glob('c/plan.csv')))} plan"


@case("attack/copy-follows-link", "nothing is written where the links lead; refused in one line, or a copy of its own")
def copy_follows_link(place):
    checkpoint = place.checkpoint()
    (place.folder / "theirs").mkdir()
    (place.folder / "shared").mkdir()
    last = int(pathlib.Path("/proc/sys/kernel/ns_last_pid").read_text())
    for number in range(last, last + 2000):
        (place.folder / f"shared/alt.{1 + number % 32768}.tmp").symlink_to(place.folder / "theirs")
    done = place.run("ddl-alter", checkpoint, "--flips", "2", "--out", "shared/alt")
    copy = place.folder / "shared/alt"
    led = any((place.folder / "theirs").iterdir())
    copied = done.code == 0 and copy.is_dir() and not copy.is_symlink()
    how = "a copy of its own" if copied else "refused in one line" if done.refused else f"exit code {done.code}"
    return f"{'something' if led else 'nothing'} is written where the links lead; {how}", not led and (
        copied or done.refused
    )


@case("attack/undo-truncates", "one digit less: refused, unchanged; a stranger's record: refused, unchanged")
def undo_truncates(place):
    state = place.checkpoint() / "checkpoint.h5"
    found = []
    for how in ("one digit less", "a stranger's record"):
        file = place.folder / "a.h5"
        shutil.copy(state, file)
        record = place.folder / "evil.json"
        if how == "one digit less":
            record = place.folder / "a.h5.alteration.json"
            place.good("ddl-alter", file, "--flips", "5", "--seed", "3", "--in-place")
            text = record.read_text()
            record.write_text(re.sub(r'("bytes": \d*)\d', r"\1", text, count=1))
            assert record.read_text() != text
        before = file.read_bytes()
        done = place.run("ddl-alter", file, "--undo", record, "--in-place")
        found.append(
            f"{how}: {'refused' if done.refused else f'exit code {done.code}'}, "
            f"{'unchanged' if file.read_bytes() == before else f'{file.stat().st_size} bytes left'}"
        )
    return "; ".join(found)


@case("attack/keras-heap-overflow", "5 files: altered or refused in one line, no signal")
def keras_heap_overflow(place):
    files = sorted(place.folder.glob("*.keras"))
    done = [place.run("ddl-alter", file, "--flips", "1", "--out", file.stem + ".out") for file in files]
    good = all(one.code == 0 or one.refused for one in done) and not any(one.signal for one in done)
    return f"{len(files)} files: exit codes {' '.join(str(one.code) for one in done)}", good and len(files) == 5


@case("attack/kineto-deep", "name, cat, pid, tid, ph: refused in one line")
def kineto_deep(place):
    found = {}
    for member in ("name", "cat", "pid", "tid", "ph"):
        event = {"ph": '"X"', "name": '"n"', "cat": '"c"', "pid": "1", "tid": "2", "ts": "5", "dur": "1"}
        event[member] = "[" * 100_000 + "]" * 100_000
        (place.folder / "x.json").write_text(
            '{"traceEvents":[{' + ",".join(f'"{k}":{v}' for k, v in event.items()) + "}]}"
        )
        done = place.run("trace-convert", "x.json", "-o", "o")
        found.setdefault("refused in one line" if done.refused else f"exit code {done.code}", []).append(member)
    return "; ".join(f"{', '.join(members)}: {how}" for how, members in found.items())


def gzip_bomb(place, rounds, largest_mib):
    write = f"""
import gzip
with gzip.open("x.json.gz", "wb", 9) as file:
    file.write(b'{{"other":[')
    for _ in range({rounds}): file.write(b"1," * 500000)
    file.write(b'1],"traceEvents":[{{"ph":"X","name":"a","pid":1,"tid":2,"ts":9,"dur":1}}]}}')
"""
    place.good(DEBIAN_PYTHON, "-c", write)
    watched = (
        "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode; "
        "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = place.run(DEBIAN_PYTHON, "-c", watched, "trace-convert", "x.json.gz", "-o", "o", timeout=300)
    code, kib = (int(word) for word in done.out.split()[-2:])
    good = (code == 0 or code == 1 and done.err.count("\n") == 1) and kib < largest_mib * 1024
    return f"exit code {code}, {kib / 1024:.0f} MiB", good


@case("attack/gzip-bomb/tenth", "read or refused in one line, in less than 300 MiB")
def tenth_of_a_gzip_bomb(place):
    return gzip_bomb(place, 60, 300)


@case("attack/gzip-bomb", "read or refused in one line, in less than 300 MiB", slow=True)
def whole_gzip_bomb(place):
    return gzip_bomb(place, 600, 300)


ESCAPE = "\x1b]0;title\x07\x1b[31mred\u202e\x9b31m"


def raw_escapes(text):
    return any(sign in text for sign in ("\x1b", "\x07", "\u202e", "\x9b"))


@case("attack/terminal-escapes", "trace-steps, interference outcomes: nothing raw")
def terminal_escapes(place):
    events = [{"ph": "X", "cat": ESCAPE, "name": ESCAPE, "pid": 1, "tid": 2, "ts": 10 * k, "dur": 5} for k in range(30)]
    (place.folder / "in.json").write_text(json.dumps({"traceEvents": events}))
    place.convert()
    said = {}
    for tool in ("trace-steps", "trace-info", "trace-path", "trace-waits"):
        done = place.run(tool, "out/traces.otf2")
        said["trace-steps"] = said.get("trace-steps", "") + done.out + done.err
    shutil.copytree(SHARED / "weights/RUN2", place.folder / "RUN2")
    file = place.folder / "RUN2/train/outcomes.csv"
    for path in (place.folder / "RUN2").rglob("*"):
        path.chmod(path.stat().st_mode | 0o200)
    file.write_text(file.read_text().replace(",ddp,", f",{ESCAPE},"))
    done = place.run("interference", "outcomes", "RUN2", "--out", "report")
    said["interference outcomes"] = done.out + done.err
    assert all(said.values()), said
    return f"{', '.join(said)}: {'escapes' if any(map(raw_escapes, said.values())) else 'nothing raw'}"


@case("attack/foreign-control-page", "refused; the process that the page names never stopped")
def foreign_control_page(place):
    needs_root()
    place.folder.chmod(0o755)
    named = place.start("sleep", "600")
    try:
        place.good(
            "noisegen",
            "--schedule",
            "control.delay 100ms; quiet 100ms",
            "--cpus",
            "1",
            "--duration",
            "300ms",
            "--out",
            "made",
        )
        (page,) = (place.folder / "made/control").iterdir()
        began = int(pathlib.Path(f"/proc/{named.pid}/stat").read_text().rsplit(")", 1)[1].split()[19])
        words, stopped = "", False
        for offset in range(256, min(1024, page.stat().st_size - 8), 64):  # one of these bytes is where processes begin
            theirs = place.folder / f"theirs{offset}"
            (theirs / "control").mkdir(parents=True)
            bytes_of = bytearray(page.read_bytes())
            struct.pack_into("<Q", bytes_of, offset, began << 22 | named.pid)
            (theirs / "control" / page.name).write_bytes(bytes_of)
            for path in (theirs, theirs / "control", theirs / "control" / page.name):
                os.chown(path, 65534, 65534)
            noise = place.start(
                "noisegen",
                "--schedule",
                "control.pause[stop=20ms,every=50ms] 500ms; quiet 100ms",
                "--cpus",
                "1",
                "--duration",
                "1500ms",
                "--control",
                theirs,
                "--out",
                f"mine{offset}",
            )
            while noise.poll() is None:
                stopped = stopped or state_of(named.pid) == "T"
                time.sleep(0.004)
            words += "" if noise.returncode in (1, 2) else f"exit code {noise.returncode} "
        return f"{words or 'refused'}; the process that the page names {'was' if stopped else 'never'} stopped"
    finally:
        kill(named.pid)
        named.wait()


# ---------------------------------------------------------------------------------------------- runs of some seconds


def needs_two_cpus():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise Skip("CPUs 0 and 1 are not both ours")


def verdict(run):
    file = run / "report/verdict.json"
    return json.loads(file.read_text()) if file.exists() else None


def short_run(place, name, job, schedule, *options, duration="8s", timeout=150):
    """A run of crosstalk on CPUs 0 and 1. Returns the answer and verdict.json, if there is one."""
    needs_two_cpus()
    done = place.run(
        "crosstalk",
        "run",
        "--out",
        name,
        "--duration",
        duration,
        "--cpus",
        "0",
        "--noise-cpus",
        "1",
        "--schedule",
        schedule,
        *options,
        "--",
        *job,
        timeout=timeout,
    )
    return done, verdict(place.folder / name)


@case("moved-noise", "a line within 6 s; no row names CPU 1 after the move", slow=True)
def moved_noise(place):
    place.needs("taskset")
    needs_two_cpus()
    noise = place.start(
        "noisegen",
        "--schedule",
        "cpu.spin 1s",
        "--cpus",
        "1",
        "--duration",
        "14s",
        "--out",
        "out",
        stderr=open(place.folder / "err", "w"),
    )  # noqa: SIM115
    time.sleep(3)
    place.good("taskset", "-apc", "0", noise.pid)
    moved_ns = time.monotonic_ns()
    moved = lambda: [line for line in (place.folder / "err").read_text().splitlines() if "another noisegen" not in line]
    line = until(moved, 6)
    noise.wait(60)
    (rows,) = [table(file) for file in place.folder.glob("out/noise/*/noise.csv")]
    wrong = [row for row in rows if int(row["begin_ns"]) > moved_ns and row["cpu"] == "1"]
    return (
        f"{'a line within 6 s' if line else 'no line'} ({' '.join(line)}); "
        f"{len(wrong)} of {len(rows)} rows name CPU 1 after the move",
        bool(line) and not wrong,
    )


@case(
    "attack/jobrun-leaves-group",
    "a neighbour whose work leaves its group is held as one that stays, or distrusted",
    slow=True,
)
def jobrun_leaves_group(place):
    needs_root()
    if not pathlib.Path("/sys/fs/cgroup/freezer/cgroup.procs").exists():
        raise Skip("no freezer of cgroup v1")
    found, good = [], True
    for neighbour in ("stays", "leaves"):
        schedule = (
            f"rotation(job.run[file={place.folder}/nb_{neighbour}.sh], placebo, control.pause[every=50ms]; slot=150ms)"
        )
        done, came = short_run(
            place, neighbour, ["./job.sh"], schedule, "--budget", "20%", "--step-line", "step ([0-9]+)", duration="14s"
        )
        if came is None:
            found.append(f"{neighbour}: {done.err.strip()[-150:]}")
            continue
        (factor,) = [value for key, value in came["factors"].items() if key.startswith("job")]
        found.append(
            f"{neighbour}: {factor['effect_percent']:.0f} % {factor['verdict']}, "
            f"{'' if came['trustworthy'] else 'not '}trustworthy"
        )
        good = good and not (came["trustworthy"] and factor["verdict"] == "safe")
    return "; ".join(found), good


@case("attack/keeper-death", "ends by itself; the neighbour is gone", slow=True)
def keeper_death(place):
    needs_two_cpus()
    run = place.start(
        "crosstalk",
        "run",
        "--out",
        "kk",
        "--duration",
        "8s",
        "--cpus",
        "0",
        "--noise-cpus",
        "1",
        "--step-line",
        "step ([0-9]+)",
        "--control-delay",
        "0",
        "--schedule",
        f"rotation(job.run[file={place.folder}/kk_nb.sh], placebo, control.pause; slot=100ms)",
        "--",
        "./kk_job.sh",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        keepers = until(
            lambda: [pid for pid in descendants_of(run.pid) if "guard-job" in command_of(pid) and children_of(pid)], 20
        )
        assert keepers, "no keeper"
        time.sleep(2)
        neighbours = descendants_of(keepers[0])
        assert neighbours, "no neighbour"
        kill(keepers[0])
        ended = until(lambda: run.poll() is not None, 40)
        gone = until(lambda: not any(alive(pid) for pid in neighbours), 16)
        return f"{'ends by itself' if ended else 'hangs'}; the neighbour is {'gone' if gone else 'left'}"
    finally:
        end(run)


# Without its environment and its parent the daemon cannot be found after kill -9; the documents say so.
@case("attack/env-i-survives", "the daemon has ended, or docs/crosstalk.md says that it may go on", slow=True)
def env_i_survives(place):
    needs_two_cpus()
    (place.folder / "job.sh").write_text("""#!/bin/bash
env -i setsid bash -c 'echo $$ >daemon.pid; trap "" TERM; while :; do sleep 0.1; done' &
i=0; while :; do echo step $((i++)); sleep 0.005; done
""")
    (place.folder / "job.sh").chmod(0o755)
    run = place.start(
        "crosstalk",
        "run",
        "--out",
        "r",
        "--duration",
        "6s",
        "--cpus",
        "0",
        "--noise-cpus",
        "1",
        "--control-delay",
        "0",
        "--step-line",
        "step ([0-9]+)",
        "--schedule",
        "rotation(cpu.spin, placebo, control.pause; slot=100ms)",
        "--",
        "./job.sh",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    file = place.folder / "daemon.pid"
    assert until(lambda: file.exists() and file.read_text().strip(), 20), "no daemon"
    daemon = int(file.read_text())
    time.sleep(4)
    run.kill()
    run.wait()
    gone = until(lambda: not alive(daemon), 20)
    kill(daemon)
    documented = "`env -i`" in (ROOT / "docs/crosstalk.md").read_text()
    return (
        "the daemon has ended" if gone else f"it goes on, which is {'' if documented else 'not '}documented"
    ), gone or documented


@case(
    "attack/non-utf8",
    "a report, status.json and JUnit, or refused in one line before the run; ddl-train: exit code 0",
    slow=True,
)
def non_utf8(place):
    place.needs("ddl-train")
    folder = os.fsencode(place.folder) + b"/caf\xe9"
    os.mkdir(folder)
    tiny = (
        "ddl-train",
        "--model",
        "emulated[compute=5ms,gradients=64kB]",
        "--data",
        "synthetic[samples=64,height=8,width=8]",
        "--transport",
        "self",
    )
    needs_two_cpus()
    done = place.run(
        "crosstalk",
        "run",
        "--out",
        place.folder / "r",
        "--export-junit",
        place.folder / "j.xml",
        "--duration",
        "6s",
        "--cpus",
        "0",
        "--noise-cpus",
        "1",
        "--control-delay",
        "0",
        "--schedule",
        "rotation(spin=cpu.spin, placebo, control.pause; slot=100ms)",
        "--",
        *tiny,
        cwd=folder,
        timeout=200,
    )
    there = [name for name in ("r/report/index.html", "r/status.json", "j.xml") if (place.folder / name).exists()]
    alone = place.run(*tiny, "--steps", "3", "--out", "t", cwd=folder)
    early = done.refused and not (place.folder / "r").exists()
    how = "refused in one line before the run" if early else f"exit code {done.code}, {', '.join(there)}"
    return (
        f"{how}; ddl-train: exit code {alone.code}",
        (early or done.code in (0, 3) and len(there) == 3) and alone.code == 0,
    )


@case("attack/terminal-escapes/analyse", "nothing raw", slow=True)
def terminal_escapes_of_a_run(place):
    place.needs("ddl-train")
    short_run(
        place,
        "r",
        [
            "ddl-train",
            "--model",
            "emulated[compute=5ms,gradients=64kB]",
            "--data",
            "synthetic[samples=64,height=8,width=8]",
            "--transport",
            "self",
        ],
        "rotation(spin=cpu.spin, placebo, control.pause; slot=100ms)",
        "--control-delay",
        "0",
    )
    file = place.folder / "r/train/run.json"
    record = json.loads(file.read_text())
    record["training"].update(model=ESCAPE, data=ESCAPE)
    file.write_text(json.dumps(record))
    done = place.run("interference", "analyse", "r", "--draws", "99", "--out", "again")
    assert done.code in (0, 3), done.err
    return "escapes" if raw_escapes(done.out + done.err) else "nothing raw"


@case("attack/victim-pid-reuse", "the process with the victim's number never stopped", slow=True)
def victim_pid_reuse(place):
    needs_root()
    needs_two_cpus()
    victim = place.start("sleep", "1000")
    noise = place.start(
        "noisegen",
        "--victim",
        victim.pid,
        "--schedule",
        "control.pause[stop=20ms,every=50ms] 500ms; quiet 100ms",
        "--cpus",
        "1",
        "--duration",
        "14s",
        "--out",
        "o",
    )
    time.sleep(2)
    was_stopped = "T" in [state_of(victim.pid) for _ in range(1000) if not time.sleep(0.001)]
    victim.kill()
    victim.wait()
    other = None
    for _ in range(2000):
        pathlib.Path("/proc/sys/kernel/ns_last_pid").write_text(str(victim.pid - 1))
        process = place.start("sleep", "600")
        if process.pid == victim.pid:
            other = process
            break
        process.kill()
        process.wait()
    try:
        assert was_stopped and other, f"victim stopped: {was_stopped}; its number was used again: {other is not None}"
        looks = [state_of(other.pid) for _ in range(3000) if not time.sleep(0.002)]
        return f"the process with the victim's number {'was' if 'T' in looks else 'never'} stopped"
    finally:
        end(noise)
        if other:
            kill(other.pid)
            other.wait()


@case("attack/jobrun-setuid", "a set-uid neighbour is held, or distrusted", slow=True)
def jobrun_setuid(place):
    needs_root()
    place.needs("setpriv", "unshare", "gcc")
    needs_two_cpus()
    as_user = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
        "env",
        "-i",
        f"PATH={place.environment['PATH']}",
        f"HOME={place.folder}",
    ]
    if place.run(*as_user, "crosstalk", "--version").code != 0:
        raise Skip("another user cannot run these programs")
    for folder in (place.folder, place.folder.parent, place.folder.parent.parent):
        folder.chmod(0o777)
    (place.folder / "burn.c").write_text("int main(void) { volatile unsigned long x = 0; for (;;) ++x; }\n")
    place.good("gcc", "-O1", "burn.c", "-o", "burn")
    (place.folder / "burn").chmod(0o4755)
    neighbour = f"{place.folder}/burn & while :; do echo x >>$CROSSTALK_HARVEST; sleep 0.01; done"
    job = "i=0; while :; do echo step $((i++)); for j in {1..2000}; do :; done; done"
    inside = [
        "bash",
        "-c",
        'mount -t proc -o hidepid=2 proc /proc; exec "$@"',
        "inside",
        *as_user,
        "crosstalk",
        "run",
        "--out",
        place.folder / "r",
        "--duration",
        "14s",
        "--cpus",
        "0",
        "--noise-cpus",
        "1",
        "--budget",
        "20%",
        "--step-line",
        "step ([0-9]+)",
        "--schedule",
        f"rotation(job.run[command={neighbour}], placebo, control.pause[every=50ms]; slot=150ms)",
        "--",
        "bash",
        "-c",
        job,
    ]
    run = place.start("unshare", "-m", "-p", "-f", "--kill-child", *inside)
    burns = until(lambda: [pid for pid in descendants_of(run.pid) if "/burn" in command_of(pid).split(" ")[0]], 20)
    time.sleep(3)
    looks = [state_of(burns[0]) for _ in range(400) if not time.sleep(0.005) and alive(burns[0])] if burns else []
    out, err = run.communicate(timeout=120)
    came = verdict(place.folder / "r")
    held = "T" in looks or "D" in looks
    trusted = came is not None and came["trustworthy"]
    said = (err or out).decode(errors="replace").strip()[-200:]
    words = f"held: {held}, trustworthy: {trusted}, exit code {run.returncode}: {said}"
    return words, held or not trusted


@case("attack/fuse-remove-all-loop", "ends by itself and names the quota", slow=True)
def fuse_remove_all_loop(place):
    needs_root()
    place.needs("ddl-train", "umount")
    if not pathlib.Path("/dev/fuse").exists():
        raise Skip("no /dev/fuse")
    needs_module(place.python, "fuse")
    for name in ("r", "m"):
        (place.folder / name).mkdir()
    mount = place.folder / "m"
    files = place.start(place.python, "badfs.py", place.folder / "r", mount, "close", "0")
    try:
        assert until(lambda: os.path.ismount(mount), 10), "not mounted"
        done = place.run(
            "ddl-train",
            "--model",
            "emulated[compute=2ms,gradients=16kB]",
            "--data",
            "synthetic[samples=64,height=8,width=8]",
            "--transport",
            "self",
            "--steps",
            "60",
            "--out",
            "m/t",
            timeout=60,
        )
        return f"exit code {done.code}: {done.err.strip()[-150:]}", done.refused and "quota" in done.err
    finally:
        place.run("umount", "-l", mount)
        end(files)


# ------------------------------------------------------------------------------------- jobs of other authors

QUICK_DELAY = "rotation(memory.stream[bytes=64MiB], placebo, control.delay, control.sham; slot=300ms)"
QUICK_PAUSE = "rotation(memory.stream[bytes=64MiB], placebo, control.pause; slot=300ms)"


class OwnJob:
    """A crosstalk run of a victim in ../shared/cases/ownjob, with the victim's own count of steps."""

    def __init__(self, place, *job, schedule=QUICK_DELAY, options=(), duration="15s", name="run", **named):
        needs_two_cpus()
        if b"libasan" in (place.bin / "noisegen").read_bytes():
            raise Skip("programs with a sanitizer, which Python has not")
        common = place.folder / "common"
        if not common.exists():
            shutil.copytree(SHARED / "ownjob/common", common)
            shutil.copytree(common, place.folder.parent / "common", dirs_exist_ok=True)
            (place.folder / "runs").mkdir()
        environment = {
            **place.environment,
            "OWN_TICKS": str(place.folder / f"ticks.{name}"),
            "PYTHONPATH": str(common),
            "OWN_SAVE": "/dev/null",
        }
        schedule_of = ("--schedule", schedule) if schedule else ()
        self.run = place.folder / name
        begin = time.monotonic()
        self.done = place.run(
            "crosstalk",
            "run",
            "--out",
            name,
            "--duration",
            duration,
            "--cpus",
            "0",
            "--noise-cpus",
            "1",
            *schedule_of,
            *options,
            "--",
            *job,
            env=environment,
            timeout=200,
            **named,
        )
        self.seconds = time.monotonic() - begin
        self.ticks = {file.name: file.stat().st_size // 16 for file in place.folder.glob(f"ticks.{name}.*")}
        file = self.run / "train/steps.csv"
        self.steps = table(file) if file.exists() else []
        self.report = (self.run / "report/index.html").exists() and self.done.code in (0, 3)
        self.said = self.done.out + self.done.err

    def first(self):
        return "report" if self.report else f"exit code {self.done.code}: {self.done.err.strip()[-250:]}"

    def count(self, rank="0"):
        return sum(row["rank"] == rank for row in self.steps)

    def own(self):
        return max(self.ticks.values(), default=0)

    def phases(self):
        """Shares of forward, backward and update in the sum of the three, and of `other` in all time; in percent. The
        last step is left out, because the end of the job cuts it off."""
        rows = self.steps[1:-1]
        sums = {
            phase: sum(int(row[phase + "_ns"]) for row in rows) for phase in ("forward", "backward", "update", "other")
        }
        work = sum(sums[phase] for phase in ("forward", "backward", "update"))
        whole = sum(int(row["end_ns"]) - int(row["begin_ns"]) for row in rows)
        return [100 * sums[phase] / work for phase in ("forward", "backward", "update")], 100 * sums["other"] / whole

    def advises(self):
        """Whether the run was refused because of this machine's load, with a line that says what to do."""
        return any(words in self.done.err for words in ("take longer", "needs at least", "give it longer"))


def counted(job, own=None, apart=1):
    """The result for a job whose steps are counted: report or advice, recorded steps and own count."""
    own = job.own() if own is None else own
    return (
        f"{job.first()}, {job.count()} of {own}",
        (job.report or job.advises()) and own > 10 and abs(job.count() - own) <= apart,
    )


def python_victim(name, *arguments, python="crosstalk-python", module="torch", **named):
    """A victim whose recorded steps, at the first try, equal its own count."""

    @case(f"ownjob/{name}", "report, as many steps as its own count", slow=True)
    def counts(place):
        needs_module(place.python, module)
        if name == "compile":
            needs_of_torch(place.python, "torch.compile")
        return counted(OwnJob(place, python, "train.py", *arguments, **named))


for victim in ("chdir", "compile", "explicit", "fork", "otherprofiler", "twomodels", "workers"):
    python_victim(victim, **({"duration": "25s"} if victim in ("compile", "workers") else {}))
python_victim("jax", module="jax")


@case("ownjob/gradaccum", "report, forward 30, backward 60, update 10 of 100 % within 3, other below 5 %", slow=True)
def gradaccum(place):
    return accumulation_or_lightning(place, "torch", (30, 60, 10), 5)


# Lightning's own work, which noise stretches, is in forward, too: phases/lightning compares with timers.
@case("ownjob/lightning", "report, forward 30, backward 50, update 20 of 100 % within 8, other below 30 %", slow=True)
def lightning(place):
    return accumulation_or_lightning(place, "lightning", (30, 50, 20), 30, within=8)


def accumulation_or_lightning(place, module, right, most_other, within=3):
    needs_module(place.python, module)
    job = OwnJob(place, "crosstalk-python", "train.py", duration="20s")
    came, good = counted(job)
    if not job.steps:
        return came, False
    shares, other = job.phases()
    return (
        f"{came}, forward {shares[0]:.1f}, backward {shares[1]:.1f}, update {shares[2]:.1f}, other {other:.1f} %",
        good and other < most_other and all(abs(share - truth) <= within for share, truth in zip(shares, right)),
    )


@case("ownjob/amp_skip", "report, as many steps as updates: 4 of 5 iterations", slow=True)
def amp_skip(place):
    needs_of_torch(place.python, "torch.amp.GradScaler")
    job = OwnJob(place, "crosstalk-python", "train.py")
    # Each skip halves the scale of 2^10: after the 138th its inverse is infinite, and every update is skipped.
    return counted(job, own=min(job.own(), 5 * 138) * 4 // 5, apart=2)


@case("ownjob/crash", "report of 300 steps of a job that ends by os._exit()", slow=True)
def crash(place):
    needs_module(place.python, "torch")
    job = OwnJob(place, "crosstalk-python", "train.py", "300", "_exit", duration="20s")
    helpful = job.report or "steps" in job.done.err and "the job recorded no steps" not in job.done.err
    return f"{job.first()}, {job.count()} steps", helpful and job.count() == 300


@case("ownjob/sigterm", "report, though the job ignores SIGTERM", slow=True)
def sigterm(place):
    needs_module(place.python, "torch")
    return counted(OwnJob(place, "crosstalk-python", "train.py", "ignore", duration="10s"), apart=1)


@case("ownjob/noopt", "ends by itself, says that no optimizer made a step", slow=True)
def noopt(place):
    needs_module(place.python, "torch")
    job = OwnJob(place, "crosstalk-python", "train.py", options=("--first-step", "30s"))
    return (
        f"{job.first()} after {job.seconds:.0f} s",
        job.report or job.done.code in (1, 2, 3) and "step" in job.done.err,
    )


@case("ownjob/never", "ends by itself, names the line that is printed most", slow=True)
def never(place):
    shutil.copy(SHARED / "ownjob/sameline/job.py", place.folder / "job.py")
    options = ("--first-step", "30s", "--step-line", "iteration ([0-9]+)")
    job = OwnJob(place, place.python, "job.py", schedule=QUICK_PAUSE, options=options)
    return f"{job.first()} after {job.seconds:.0f} s", job.done.code in (1, 2, 3) and "batch of" in job.done.err


@case("ownjob/spawn", "report, steps of both ranks as many as their own counts", slow=True)
def spawn(place):
    needs_module(place.python, "torch")
    job = OwnJob(place, "crosstalk-python", "train.py", duration="20s")
    counts = sorted(job.count(rank) for rank in ("0", "1"))
    own = sorted(job.ticks.values())
    return (
        f"{job.first()}, {counts} of {own}",
        job.report and len(own) == 2 and all(abs(a - b) <= 1 for a, b in zip(counts, own)),
    )


@case("ownjob/torchrun", "report, as many steps as its own count", slow=True)
def torchrun(place):
    needs_module(place.python, "torch")
    program = pathlib.Path(place.python).parent / "torchrun"
    if not program.exists():
        raise Skip("no torchrun beside the interpreter")
    starts = [program, "--nproc_per_node", "1", "--no_python", "true"]
    if subprocess.run(starts, capture_output=True, check=False).returncode != 0:
        raise Skip("this torchrun does not start (Debian's)")
    folder = ROOT / "python"
    job = OwnJob(
        place,
        "env",
        f"PYTHONPATH={folder}:{place.folder}/common",
        program,
        "--nproc_per_node",
        "2",
        "-m",
        "crosstalk",
        "train.py",
        duration="25s",
    )
    return counted(job)


@case("ownjob/stdin", "report; the job reads its input", slow=True)
def stdin(place):
    needs_module(place.python, "torch")
    (place.folder / "lr").write_text("0.01\n")
    with open(place.folder / "lr") as text:
        return counted(OwnJob(place, "crosstalk-python", "train.py", stdin=text))


def of_lines(place, file, schedule=QUICK_PAUSE, **named):
    """The job's lines are its steps: how many of its own steps one step of the report is."""
    job = OwnJob(place, place.python, file, schedule=schedule, **named)
    return counted(job, apart=max(3, job.own() // 50))


@case("ownjob/sameline", "report, each line a step", slow=True)
def sameline(place):
    return of_lines(place, "job.py")


@case("ownjob/padded", "report, each line a step", slow=True)
def padded(place):
    return of_lines(place, "job.py")


@case("ownjob/tqdm", "report, the bar is in job.log, its steps as many as its own count within a tenth", slow=True)
def tqdm(place):
    needs_module(place.python, "tqdm")
    job = OwnJob(place, place.python, "job.py", schedule=QUICK_PAUSE)
    bar = "it/s" in (job.run / "log/job.log").read_text(errors="replace")
    came, good = counted(job, apart=max(3, job.own() // 10))
    return f"{came}, {'the' if bar else 'no'} bar in job.log", good and bar


@case("ownjob/sklearn", "report, each line a step", slow=True)
def sklearn(place):
    needs_module(place.python, "sklearn")
    return of_lines(place, "train.py")


@case("ownjob/timelines", "not trustworthy, says that the steps at fixed times, does not advise to measure on", slow=True)
def timelines(place):
    schedule = QUICK_PAUSE.replace("300ms", "500ms")
    job = OwnJob(place, place.python, "job.py", schedule=schedule, duration="40s")
    found = verdict(job.run)
    trusted = found is not None and found["trustworthy"]
    by_time, advises = "at fixed times" in job.said, "Continue measuring" in job.said
    came = f"{job.first()}, trustworthy: {trusted}, says so: {by_time}, advises to measure on: {advises}"
    return came, job.report and not trusted and by_time and not advises


@case("ownjob/startup", "report; as many blocks after 20 s of start-up as after none, within a third", slow=True)
def startup(place):
    needs_module(place.python, "torch")
    used = []
    for seconds in ("0", "20"):
        job = OwnJob(place, "crosstalk-python", "train.py", seconds, duration="15s", name=f"run{seconds}")
        found = re.search(r"(\d+) blocks", job.said)
        if not job.report or not found:
            return job.first(), False
        used.append(int(found.group(1)))
    return f"report; {used[0]} and {used[1]} blocks", used[1] >= used[0] * 2 / 3


def mpi_victim(place, ranks, *arguments, file="job.py", **named):
    place.needs("mpirun", "trace-record")
    needs_module(place.python, "mpi4py.MPI")
    (place.folder / "cases").mkdir()
    shutil.copytree(SHARED / "ownjob/common", place.folder / "cases/common")
    return OwnJob(
        place,
        "mpirun",
        "--oversubscribe",
        "--bind-to",
        "none",
        "-n",
        ranks,
        place.python,
        file,
        *arguments,
        schedule=QUICK_PAUSE,
        **named,
    )


@case("ownjob/mpi3", "report, which says what a step is", slow=True)
def mpi3(place):
    job = mpi_victim(place, 2)
    return f"{job.first()}, own count {job.own()}", job.report and "MPI_" in job.done.out


@case("ownjob/mpicrash", "says that the job failed, exit code 1 or 3", slow=True)
def mpicrash(place):
    job = mpi_victim(place, 2, "500", "kill", duration="20s")
    return job.first(), job.done.code in (1, 3) and bool(job.said.strip())


@case("ownjob/mpispawn", "says that spawned processes are not recorded", slow=True)
def mpispawn(place):
    job = mpi_victim(place, 1, duration="20s")
    return job.first(), "only the spawning processes are recorded" in job.said


@case("ownjob/mpiworkers", "report, or advice that is not cut: --step-from MPI_Mrecv or its like", slow=True)
def mpiworkers(place):
    job = mpi_victim(place, 2, duration="25s")
    return job.first(), job.report or "--step-from MPI_" in job.said


@case("ownjob/wrapper", "report, as many steps as its own count", slow=True)
def wrapper(place):
    needs_module(place.python, "torch")
    shutil.copy(SHARED / "ownjob/gradaccum/train.py", place.folder)
    (place.folder / "train.sh").write_text("#!/bin/bash\ncrosstalk-python train.py\n")
    (place.folder / "train.sh").chmod(0o755)
    return counted(OwnJob(place, "./train.sh"))


def timed_training(kind, module):
    """Recorded phases compared with the training's own timers, which share no code with the recording."""

    @case(f"phases/{kind}", "forward, backward and update within 3 points of its own timers, 60 steps", slow=True)
    def phases_of(place):
        needs_module(place.python, module)
        if b"libasan" in (place.bin / "noisegen").read_bytes():
            raise Skip("programs with a sanitizer, which Python has not")
        environment = {**place.environment, "CROSSTALK_OUT": str(place.folder / "run")}
        place.good("crosstalk-python", ROOT / "testing/timed_trainings.py", kind, "60", "own.json", env=environment)
        own = json.loads((place.folder / "own.json").read_text())
        rows = table(place.folder / "run/train/steps.csv")
        late = rows[5:]
        whole = sum(int(row["end_ns"]) - int(row["begin_ns"]) for row in late)
        found = {phase: 100 * sum(int(row[phase + "_ns"]) for row in late) / whole for phase in own["shares"]}
        words = ", ".join(f"{phase} {found[phase]:.1f} ({own['shares'][phase]:.1f})" for phase in found)
        return (
            f"{words}; {len(rows)} of {own['steps']} steps",
            len(rows) == own["steps"] == 60 and all(abs(found[phase] - own["shares"][phase]) <= 3 for phase in found),
        )


for training, needed in (
    ("accumulation", "torch"),
    ("closure", "torch"),
    ("lightning", "lightning"),
    ("trainer", "transformers"),
):
    timed_training(training, needed)


# ------------------------------------------------------------------------------------------------------------- main


def judge(name, programs, folder, python):
    """The answer, and "yes", "no" or "skipped"."""
    function, right, _ = CASES[name]
    place = Place(programs, folder, name, python)
    try:
        came = function(place)
    except Skip as why:
        return str(why), "skipped"
    except (AssertionError, AttributeError, OSError, ValueError, KeyError, IndexError) as error:
        return f"{type(error).__name__}: {error}", "no"
    if isinstance(came, tuple):
        return came[0], "yes" if came[1] else "no"
    return came, "yes" if came == right else "no"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="also cases that need a run of several seconds")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[])
    parser.add_argument("--python", default=os.environ.get("PYTHON", DEBIAN_PYTHON))
    asked = parser.parse_args()
    if not SHARED.exists():
        print("SKIPPED: no ../shared/cases")
        sys.exit(77)
    for name in asked.only:
        if not any(known == name or known.startswith(name + "/") for known in CASES):
            sys.exit(f"no case {name}; there are {', '.join(CASES)}")
    counts = {"yes": 0, "no": 0, "skipped": 0}
    print("case | right value | came | ok")
    for name, (_, right, slow) in CASES.items():
        chosen = (
            any(name == only or name.startswith(only + "/") for only in asked.only)
            if asked.only
            else asked.all or not slow
        )
        if chosen:
            with tempfile.TemporaryDirectory(prefix="crosstalk-cases.", ignore_cleanup_errors=True) as folder:
                came, ok = judge(name, asked.bin.resolve(), pathlib.Path(folder), asked.python)
            counts[ok] += 1
            print(name, right, " ".join(came.split()), ok, sep=" | ", flush=True)
    print(f"{counts['yes']} right, {counts['no']} wrong, {counts['skipped']} skipped")
    sys.exit(1 if counts["no"] else 0)


if __name__ == "__main__":
    main()
