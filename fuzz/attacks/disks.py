# SPDX-License-Identifier: Apache-2.0
"""Full, small or read-only disks, limits on file size, few descriptors: one line, the right exit code, and no
incomplete file under its final name."""
import contextlib
import os
import resource
import subprocess

import leftovers

NEEDS = ("noisegen", "trace-info", "trace-synth")
SPEC = "ranks 2\nrepeat 2000 step {\n work 10us, 30us on 1\n MPI_Allreduce 10us\n}\n"


def _noise(context, out):
    return ["noisegen", "--schedule", "memory.stream[bytes=2MiB] 20ms; placebo 20ms", "--duration", "200ms", "--cpus",
            str(max(os.sched_getaffinity(0))), "--share", "--out", out]


def _scratch_noise(context, out):
    return ["noisegen", "--schedule", f"io.write[size=1MiB,block=64KiB,directory={out.parent}] 20ms; quiet 5ms",
            "--max-disk", "100%", "--duration", "200ms", "--cpus", str(max(os.sched_getaffinity(0))), "--share",
            "--out", context.directory / "elsewhere"]


def _synth(context, out):
    spec = context.directory / "spec"
    spec.write_text(SPEC)
    return ["trace-synth", spec, "-o", out]


def _training(context, out):
    return ["ddl-train", "--model", "emulated[compute=2ms,gradients=64KiB]", "--data", "synthetic[samples=64]", "--steps",
            "40", "--out", out]


def _merge(context, out):
    run = context.recorded_run()
    noise = next(run.glob("noise/*/trace/traces.otf2"))
    return ["trace-merge", run / "train/trace/traces.otf2", noise, "-o", out]


def _steps(context, out):
    return ["trace-steps", context.recorded_run() / "train/trace/traces.otf2", "-o", out]


def _analysis(context, out):
    run = context.recorded_run()
    noise = next(run.glob("noise/*/trace/traces.otf2"))
    return ["interference", "exposure", "--train", run / "train/trace/traces.otf2", "--noise", noise, "--draws", "99",
            "--out", out]


WRITERS = {"noise": (_noise, ("noisegen",)), "scratch": (_scratch_noise, ("noisegen",)),
           "synth": (_synth, ("trace-synth",)), "training": (_training, ("ddl-train",)),
           "merge": (_merge, ("trace-merge", "synthetic-run")), "steps": (_steps, ("trace-steps", "synthetic-run")),
           "analysis": (_analysis, ("interference", "synthetic-run"))}
PRINTERS = (("noisegen", "--list"), ("noisegen", "--help"), ("noisegen", "--version"),
            ("noisegen", "--schedule", "M2S2", "--duration", "60s", "--dry-run"), ("trace-info", "--help"),
            ("trace-synth", "--help"), ("interference", "--help"), ("ddl-train", "--list"), ("ddl-train", "--help"))


def attempts(context, count):
    writers = [name for name, (_, programs) in WRITERS.items() if all(context.program(each) for each in programs)]
    printers = [words for words in PRINTERS if context.program(words[0])]
    places = [_small_disk, _few_inodes, _read_only] if _can_mount(context) else [_no_rights]
    for number in context.numbers(count):
        if number % 8 == 7:
            words = context.random.choice(printers)
            yield f"{' '.join(words)} > /dev/full", _full_stdout(context, words)
            continue
        name = context.random.choice(writers)
        place = context.random.choice([*places, _short_files, _few_descriptors])
        with place(context) as (what, folder, limits):
            failure = _write(context, WRITERS[name][0](context, folder / "out"), folder, limits)
        yield f"{name} with {what}", failure


def _write(context, words, folder, limits):
    outcome = context.run(*words, limits=limits, timeout=30, cwd=context.directory)
    failure = leftovers.judged(context, outcome)
    out = folder / "out"
    if not failure and outcome.code in (1, 2) and (out / "report").exists() and not (out / "report/index.html").exists():
        failure = "half a report"
    return failure or leftovers.broken_tables(folder) or leftovers.incomplete_archives(context, folder)


def _full_stdout(context, words):
    shell = ["sh", "-c", 'exec "$0" "$@" >/dev/full', context.program(words[0]), *words[1:]]
    outcome = context.run(*shell)
    failure = context.judge(outcome)
    return failure or (None if outcome.code == 1 else f"exit code {outcome.code} though nothing could be printed")


@contextlib.contextmanager
def _mounted(context, options):
    folder = context.directory / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "attack", folder], check=True, capture_output=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True, capture_output=True)


@contextlib.contextmanager
def _small_disk(context):
    kib = int(4 * 2 ** context.random.uniform(0, 10))
    with _mounted(context, f"size={kib}k") as folder:
        yield f"a disk of {kib} KiB", folder, ()


@contextlib.contextmanager
def _few_inodes(context):
    inodes = context.random.randrange(2, 30)
    with _mounted(context, f"size=16m,nr_inodes={inodes}") as folder:
        yield f"{inodes} inodes", folder, ()


@contextlib.contextmanager
def _read_only(context):
    with _mounted(context, "size=1m,ro") as folder:
        yield "a read-only disk", folder, ()


@contextlib.contextmanager
def _no_rights(context):
    folder = context.directory / "disk"
    folder.mkdir(mode=0o555)
    try:
        yield "a directory without rights", folder, ()
    finally:
        folder.chmod(0o755)


@contextlib.contextmanager
def _short_files(context):
    most = int(2 ** context.random.uniform(11, 21))  # output goes into files, too
    yield f"files of at most {most} bytes", context.directory, ((resource.RLIMIT_FSIZE, most),)


@contextlib.contextmanager
def _few_descriptors(context):
    most = context.random.randrange(4, 40)
    yield f"{most} descriptors", context.directory, ((resource.RLIMIT_NOFILE, most),)


def _can_mount(context):
    if os.geteuid() != 0:
        return False
    context.directory.mkdir(exist_ok=True)
    try:
        with _mounted(context, "size=64k"):
            return True
    except subprocess.CalledProcessError:
        return False
    finally:
        context.clear()
