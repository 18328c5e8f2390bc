# SPDX-License-Identifier: Apache-2.0
"""Inputs for the test of exit codes: runs, archives and tables, each made when it is first requested, and ways to start
a program without something that it needs."""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
TRAINING = ["--model", "emulated[compute=2ms,gradients=64KiB]", "--data", "synthetic[samples=64]", "--transport", "self"]
SCHEDULE = "rotation(cpu.spin, placebo, control.delay, control.sham; slot=100ms)"


class Runs:
    """Inputs in a directory of their own; each is made when it is first requested. Thread-safe."""

    def __init__(self, directory):
        self.directory = pathlib.Path(directory)
        self.number = 0
        self.lock = threading.Lock()
        self.locks = {}

    def new(self, name="out"):
        with self.lock:
            self.number += 1
            return self.directory / f"{name}.{self.number}"

    def call(self, program, *words, **options):
        command = [str(BIN / program), *map(str, words)]
        options = {"capture_output": True, "text": True, "timeout": 240, "cwd": self.directory, **options}
        return subprocess.run(command, **options)

    def made(self, name, make):
        path = self.directory / name
        with self.lock:
            making = self.locks.setdefault(name, threading.Lock())
        with making:
            if not path.exists():
                make(path)
        return path

    def archive(self, name="late", text="ranks 2\nrepeat 20 step {\n work 1ms, 3ms on 1\n MPI_Barrier 1us\n}\n"):
        def make(path):
            spec = self.directory / f"{name}.spec"
            spec.write_text(text)
            self.call("trace-synth", spec, "-o", path)

        return self.made(name, make) / "traces.otf2"

    def cut_off(self):
        def make(path):
            shutil.copytree(self.archive().parent, path)
            events = sorted(path.rglob("*.evt"))[0]
            events.write_bytes(events.read_bytes()[: events.stat().st_size // 2])

        return self.made("cut_off", make) / "traces.otf2"

    def wordless(self):
        return self.archive("once", "ranks 2\nwork 1ms\nMPI_Barrier 1us\n")

    def run(self, name="run", noise="60s"):
        """A training of five seconds with noise."""

        def make(path):
            with open(self.directory / "run.log", "a") as log:
                training = subprocess.Popen(
                    [BIN / "ddl-train", *TRAINING, "--control-delay", "200us", "--duration", "6s", "--out", path], stdout=log, stderr=log)
                while not (path / "train/steps.csv").exists() and training.poll() is None:
                    time.sleep(0.05)
                beside = subprocess.Popen(
                    [BIN / "noisegen", "--schedule", SCHEDULE, "--cpus", "all", "--share",
                     "--duration", noise, "--out", path], stdout=log, stderr=log)
                training.wait()
                if beside.poll() is None:
                    beside.send_signal(signal.SIGTERM)
                beside.wait()

        return self.made(name, make)

    def uncovered(self):
        return self.run("uncovered", "2s")

    def of(self, run):
        """Options of interference exposure for the run."""
        noise = sorted((run / "noise").glob("*/trace/traces.otf2"))
        return ["--train", run / "train/trace/traces.otf2", "--noise", *noise, "--out"]

    def steps(self, name, step_ns):
        def make(path):
            ends = [1000 + i * step_ns + i % 7 * 1000 for i in range(101)]
            pairs = zip(ends, ends[1:])
            path.write_text("rank,step,begin_ns,end_ns\n" + "".join(f"0,{i},{a},{b}\n" for i, (a, b) in enumerate(pairs)))

        return self.made(name, make)


def report_of(runs, name, percent, trustworthy=True):
    """A synthetic report: memory.stream costs a given slowdown, give or take a point."""
    noise = {"verdict": "unsafe", "effect_percent": percent, "low_percent": percent - 1, "high_percent": percent + 1,
             "level": "", "stressor": "memory.stream"}
    identity = {"hosts": ["n1"], "model": "mlp", "data": "digits", "strategy": "ddp", "ranks": 2, "started": name,
                "schedule": "rotation(memory.stream, placebo)", "seed": "1", "step_is": ""}
    verdict = {"format": 1, "trustworthy": trustworthy, "reasons": ["a control is off"], "quiet_step_ms": 20.0,
               "budget_percent": 1.0, "confidence_percent": 95.0, "identity": identity,
               "factors": {"memory.stream": noise}}

    def make(path):
        (path / "report").mkdir(parents=True)
        (path / "report/index.html").write_text("a report")
        (path / "report/verdict.json").write_text(json.dumps(verdict))

    return runs.made(name, make)


def without_io_uring():
    """Called in the child: makes io_uring_setup unavailable (a seccomp filter), as in many containers."""
    program = b"".join(struct.pack("HBBI", *line) for line in (
        (0x20, 0, 0, 0), (0x15, 0, 1, 425), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)))
    code = ctypes.create_string_buffer(program)
    libc = ctypes.CDLL(None)
    filter_ = struct.pack("HxxxxxxP", 4, ctypes.addressof(code))
    libc.prctl(38, 1, 0, 0, 0)
    if libc.prctl(22, 2, filter_, 0, 0) != 0:
        os._exit(99)


def stopped(runs, *words):
    """The exit code of a program that SIGTERM ends; repeated later in its life if the program had not yet begun."""
    command = [str(BIN / words[0]), *map(str, words[1:])]
    for after_s in (2, 8, 24):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
            time.sleep(after_s)
            program.send_signal(signal.SIGTERM)
            if (status := program.wait(timeout=60)) != 1:
                break
    return status


def lost_checkpoint(runs):
    """A file in the place of the folder of checkpoints."""
    out = runs.new()
    command = [BIN / "ddl-train", *TRAINING, "--steps", "2000", "--checkpoint-every", "1000", "--out", out]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        while not (out / "train/steps.csv").exists():
            if program.poll() is not None:
                return program.returncode
            time.sleep(0.02)
        (out / "train/checkpoints").write_text("no folder")
        return program.wait(timeout=120)


def alone(runs, program, *words):
    """The exit code of a program while no other program of the test runs."""
    copy = runs.new("alone") / program
    copy.parent.mkdir()
    shutil.copy(BIN / program, copy)
    elsewhere = {name: value for name, value in os.environ.items() if name != "CROSSTALK_BIN"}
    return subprocess.run([copy, *words], capture_output=True, env=elsewhere).returncode


OWN_JOB = "while sleep 0.01; do echo step $((++step)); done"


def own_job(runs, out, end_noise=False):
    """A job without markers, which prints a line a step, and may end the noise once that has begun."""
    job = OWN_JOB
    if end_noise:
        job = (f"{{ until (($(cat {out}/noise/*/noise.csv | wc -l) > 5)); do sleep 0.1; done 2>/dev/null;"
               " for child in $(cat /proc/$PPID/task/$PPID/children); do"
               " [[ $(cat /proc/$child/comm) != noisegen ]] || kill $child; done; } & " + job)
    for _ in range(3):
        shutil.rmtree(out, ignore_errors=True)
        done = runs.call("crosstalk", "run", "--out", out, "--duration", "8s", "--step-line", "step", "--schedule",
                         "rotation(cpu.spin, placebo, control.pause; slot=200ms)", "--", "bash", "-c", job)
        if end_noise or done.returncode != 3:  # 3 is also the code if the machine stalls for seconds
            break
    return done


def corrupt_set(runs):
    out = runs.new("shards")
    runs.call("ddl-data", "generate", "synthetic", "--samples", 100, "--out", out)
    records = out / "train-00000.bin"
    data = bytearray(records.read_bytes())
    data[1000] ^= 1
    records.write_bytes(data)
    return out


def stored_state(runs):
    """The directory of a checkpoint."""
    run = runs.made("stored", lambda path: runs.call(
        "ddl-train", *TRAINING, "--steps", 10, "--checkpoint-every", 5, "--out", path))
    return sorted((run / "train/checkpoints").iterdir())[-1]


def fake_file(runs, name="file"):
    return runs.made(name, lambda path: path.write_text("nothing that any program reads\n"))


def saves_of(runs, name, saves=3, cut_off=False):
    """A run of 100 steps, with saves by the table of checkpoints."""
    def make(path):
        (path / "train").mkdir(parents=True)
        steps = "".join(f"0,{i},{i * 10**9},{(i + 1) * 10**9}\n" for i in range(100))
        (path / "train/steps.csv").write_text("rank,step,begin_ns,end_ns\n" + steps)
        rows = "".join(f"{20 * i},0,hdf5,training,rank0,sync,yes,{20 * i * 10**9},5000000,0,4000000,1000000,1000\n"
                       for i in range(1, saves + 1))
        (path / "train/checkpoints.csv").write_text(
            "step,rank,format,content,by,mode,fsync,begin_ns,stall_ns,copy_ns,write_ns,sync_ns,bytes\n" +
            (rows[:-3] if cut_off else rows))

    return runs.made(name, make)


def noise_log(runs, from_s):
    """A log of noise in every second tenth of a second; the steps() begin at 0."""
    spans = [(from_s + 0.1 * i, from_s + 0.1 * (i + 1)) for i in range(1, 10, 2)]
    return runs.made(f"log{from_s}.csv", lambda path: path.write_text(
        "begin_s,end_s,host,what,level\n" + "".join(f"{begin:.3f},{end:.3f},,sort,\n" for begin, end in spans)))


def no_digits():
    return {**os.environ, "CROSSTALK_DIGITS": "/nowhere"}


def preloaded():
    """A sanitizer's library has to be the first preloaded one."""
    return {**os.environ, "LD_PRELOAD": os.environ.get("CROSSTALK_PRELOAD_FIRST", "")}


def probe(runs, *words):
    return ("noisegen", "probe", "placebo", "--array", "16MiB", *words)


def pressing_hard(runs):
    """A run with a report, and a neighbour whose pressure is above all measured levels."""

    def make(path):
        for folder in ("train/trace", "noise/n1.0", "report"):
            (path / folder).mkdir(parents=True)
        (path / "train/trace/traces.otf2").write_text("not read")
        (path / "noise/n1.0/noise.json").write_text(
            '{"host": "n1", "factor_levels": [{"factor": "io.write", "level": "", "bytes_per_s": 1e8, "operations_per_s": 9}]}')
        (path / "report/verdict.json").write_text('{"confidence_percent": 95, "quiet_step_ms": 40, "trustworthy": true}')
        (path / "report/verdicts.csv").write_text(
            "factor,level,stressor,effect_percent,low_percent,high_percent\nio.write,,io.write,1,0.5,1.5\n")
        (path / "pressure.json").write_text(
            '{"command": "./app", "host": "n1", "noise_cpus": "1", "pressures": [{"stressor": "io.write", "unit": "bytes/s",'
            ' "felt": true, "level": 2e8, "low": 1e8, "high": null}]}')

    path = runs.made("pressing", make)
    return path, "--neighbour", path / "pressure.json"


def other_profile(runs):
    def make(path):
        runs.call("trace-cube", runs.archive("other", "ranks 2\nrepeat 9 step {\n work 1ms\n MPI_Barrier 1us\n}\n"), "-o", path)

    return runs.made("other.cubex", make)
