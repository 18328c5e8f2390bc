# SPDX-License-Identifier: Apache-2.0
"""kill -9 at a random moment: afterwards no process runs, scratch files are gone, tables have whole rows, archives are
complete, absent or refused in one line, and the same command works again."""
import os
import pathlib
import signal
import subprocess
import time

import leftovers

NEEDS = ("noisegen", "trace-info")
LOCAL = pathlib.Path(__file__).parents[2] / "jobscripts/local.sh"
NOISE = ("rotation(memory.stream[bytes=2MiB], io.write[size=1MiB,block=64KiB,directory={io}], "
         "metadata.create[files=20,directory={io}], network.exchange, control.delay, control.sham; slot=50ms)")
TRAINING = ("--model", "emulated[compute=5ms,gradients=64KiB]", "--data", "synthetic[samples=64]")


class Victim:
    """One way to start a program, and the conditions on what it leaves."""

    def __init__(self, name, programs, command, longest_s, again=None, check=None):
        self.name = name
        self.programs = programs
        self.command = command  # of (context, out): the command
        self.longest_s = longest_s  # the kill comes earlier
        self.again = again or (lambda context, out: command(context, out.with_name(out.name + "2")))
        self.check = check


def _noise(context, out):
    return [context.program("noisegen"), "--schedule", NOISE.format(io=context.directory / "io"), "--duration", "1500ms",
            "--cpus", str(max(os.sched_getaffinity(0))), "--share", "--out", out]


def _training(context, out):
    return [context.program("ddl-train"), *TRAINING, "--steps", "100", "--out", out]


def _ranks(context, out):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2", *_training(context, out)[:-2], "--progress",
            "yield", "--out", out]


def _analysis(context, _):
    run = context.directory / "run"
    if not run.exists():
        context.copied_run()
    return [context.program("interference"), "analyse", run, "--draws", "199"]


def _merge(context, out):
    run = context.recorded_run()
    noise = next(run.glob("noise/*/trace/traces.otf2"))
    return [context.program("trace-merge"), run / "train/trace/traces.otf2", noise, "-o", out]


def _script(context, out):
    return [LOCAL, "--out", out, "--duration", "5", "--batch", "1", *TRAINING, "--schedule",
            NOISE.format(io=context.directory / "io")]


def _no_half_report(context, _):
    report = context.directory / "run/report"
    if report.exists() and not (report / "index.html").exists():
        return "DIR/report is there without its page"
    return None


VICTIMS = [
    Victim("noisegen", ("noisegen",), _noise, 2.0),
    Victim("ddl-train", ("ddl-train",), _training, 2.0),
    Victim("interference", ("interference", "synthetic-run"), _analysis, 3.0, again=_analysis, check=_no_half_report),
    Victim("trace-merge", ("trace-merge", "synthetic-run"), _merge, 0.6),
    Victim("mpirun", ("ddl-train",), _ranks, 3.0),
    Victim("rank", ("ddl-train",), _ranks, 3.0),
]
SCRIPT = Victim("local.sh", ("crosstalk", "noisegen", "ddl-train", "interference"), _script, 12.0)


def attempts(context, count):
    victims = [victim for victim in VICTIMS if all(context.program(program) for program in victim.programs)]
    for number in context.numbers(count):
        victim = victims[number % len(victims)]
        if number % 20 == 19 and all(context.program(program) for program in SCRIPT.programs):
            victim = SCRIPT
        after_s = context.random.uniform(0, victim.longest_s)
        yield f"{victim.name} after {after_s:.3f} s", _try(context, victim, after_s)


def _try(context, victim, after_s):
    for name in ("io", "tmp", "tmp2"):
        (context.directory / name).mkdir()
    out = context.directory / "out"
    _kill_after(context, victim, out, after_s)
    return (leftovers.alive_after(context.directory, 5)
            or _scratch_left(context)
            or leftovers.broken_tables(context.directory)
            or leftovers.broken_archives(context, context.directory)
            or (victim.check and victim.check(context, out))
            or _again(context, victim, out))


def _environment(context, temporary):
    return {"TMPDIR": str(context.directory / temporary), leftovers.MARK: str(context.directory),
            "CROSSTALK_BIN": str(context.bin), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def _kill_after(context, victim, out, after_s):
    words = [str(word) for word in victim.command(context, out)]
    with open(context.directory / "said", "wb") as said:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=said, stderr=said, cwd=context.directory,
                                   env={**os.environ, **_environment(context, "tmp")}, start_new_session=True)
    time.sleep(after_s)
    target = _rank_of(process.pid) if victim.name == "rank" else process.pid
    try:
        os.kill(target, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if victim.name != "rank":
        process.wait()
        return
    try:
        process.wait(timeout=8)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _rank_of(mpirun):
    """A rank that mpirun has started, or else mpirun itself."""
    for child in pathlib.Path(f"/proc/{mpirun}/task/{mpirun}/children").read_text().split():
        try:
            if pathlib.Path(f"/proc/{child}/comm").read_text().strip() == "ddl-train":
                return int(child)
        except OSError:  # it has just ended
            continue
    return mpirun


def _scratch_left(context):
    # Open MPI's session directories stay if it is killed. So does what noisegen and its guard left if both were killed,
    # until the next noisegen starts: it is checked again after that.
    left = [path.name for path in (context.directory / "tmp").iterdir() if not path.name.startswith("ompi.")]
    left += [path.name for path in (context.directory / "io").iterdir()]
    return f"scratch is left: {left}" if left else None


def _again(context, victim, out):
    report = context.directory / "run/report"
    if victim.name == "interference" and report.exists():  # it had ended before the kill
        report.rename(report.with_name("report.first"))
    words = victim.again(context, out)
    outcome = context.run(*words, timeout=90, cwd=context.directory, env=_environment(context, "tmp2"))
    failure = leftovers.judged(context, outcome)
    if not failure and outcome.code not in (0, 3):
        failure = f"exit code {outcome.code}: {outcome.err[-300:]!r}"
    return (f"not again: {failure}" if failure else None) or leftovers.incomplete_archives(
        context, out.with_name(out.name + "2"))
