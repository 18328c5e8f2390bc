# SPDX-License-Identifier: Apache-2.0
"""Planted links, pipes and directories, hostile names, values that are shell commands: nothing outside of a run's
directory changes, nothing is executed, nothing hangs, and a refusal is one line."""
import os
import pathlib

import leftovers

NEEDS = ("noisegen", "trace-info")
SCRIPTS = pathlib.Path(__file__).parents[2] / "jobscripts"
NAMES = ("$(touch {canary})", "`touch {canary}`", "; touch {canary};", "| touch {canary}", "x'; touch {canary}; '",
         'x"; touch {canary}; "', "a[$(touch {canary})]", "${{IFS}}", "-dash", "--", "-rf", "a b", "new\nline", "tab\t",
         "\x1b[31mred", "%s%n", "\udcff\udcfe", "'", '"', "\\", "*", "~", "é" * 40, "x" * 255, "x" * 300, ".", "..",
         "a/../b", "/proc/nowhere/at/all", "")
# Stand-ins for the programs in tests of how scripts handle text.
STAND_INS = {
    "ddl-train": """while [[ $1 != --out ]]; do shift; done
mkdir -p -- "$2/train"
{ echo rank,step,begin_ns,end_ns; for step in {0..23}; do echo "0,$step,0,$ATTACK"; done; } >"$2/train/steps.csv"
sleep 0.7""",
    "noisegen": """for word; do [[ $word != --dry-run ]] || exit 0; done
while [[ $1 != --out ]]; do shift; done
mkdir -p -- "$2/noise/n1.0/trace"
touch -- "$2/noise/n1.0/trace/traces.otf2"
echo "\\"realtime_minus_monotonic_ns\\": $ATTACK," >"$2/noise/n1.0/noise.json"
printf 'begin_ns,end_ns\\n%s,%s\\n' "$ATTACK" "$ATTACK" >"$2/noise/n1.0/noise.csv"
trap 'exit 0' TERM
while sleep 0.1; do :; done""",
    "mpirun": """while [[ $1 != */ddl-train ]]; do shift; done
exec "$@\"""",
    "srun": """until [[ $# == 0 || $1 == *ddl-train || $1 == *noisegen ]]; do shift; done
[[ $1 == *ddl-train ]] || echo $$ >noise.pid
exec "$@\"""",
    "squeue": 'echo "1.1 noise"',
    "scancel": 'kill "$(cat noise.pid)"',
    "scontrol": "exit 0",
    "interference": "exit 0",
}


def attempts(context, count):
    kinds = [_planted, _named, _host, _label, _sbatch, _script]
    for number in context.numbers(count):
        for name in ("work", "victim"):
            (context.directory / name).mkdir()
        (context.directory / "victim/precious").write_text("mine")
        what, failure = kinds[number % len(kinds)](context)
        yield what, failure or _touched(context)


def _canary(context):
    return context.directory / "executed"


def _name(context):
    return context.random.choice(NAMES).format(canary=_canary(context))


def _touched(context):
    """A change outside of the permitted directories, or None."""
    victim = context.directory / "victim"
    if _canary(context).exists() or (context.directory / "work/executed").exists():
        return "text was executed"
    if [path.name for path in victim.iterdir()] != ["precious"] or (victim / "precious").read_text() != "mine":
        return "a file outside was written"
    return None


def _run(context, words, env=None):
    environment = {leftovers.MARK: str(context.directory), **(env or {})}
    try:
        outcome = context.run(*words, cwd=context.directory / "work", env=environment, timeout=20)
    except ValueError:  # no argument can have such a name
        return None
    finally:
        alive = leftovers.alive_after(context.directory, 5)
    return alive or leftovers.judged(context, outcome)


def _noise(context, out, schedule="memory.stream[bytes=2MiB] 20ms; control.delay 20ms"):
    return ["noisegen", "--schedule", schedule, "--duration", "60ms", "--cpus", str(max(os.sched_getaffinity(0))),
            "--share", "--out", out]


def _training(context, out):
    return ["ddl-train", "--model", "emulated[compute=1ms,gradients=4KiB]", "--data", "synthetic[samples=16]", "--steps",
            "5", "--out", out]


def _program(context, out):
    makers = [_noise, *([_training] if context.program("ddl-train") else [])]
    return context.random.choice(makers)(context, out)


def _planted(context):
    """A link, pipe or directory stands where a program is to write."""
    host = os.uname().nodename.split(".")[0]
    places = ["noise", "noise/plan.json", "noise/token", f"noise/{host}.0", f"noise/{host}.0/noise.csv", "control",
              f"control/{host}", "train", "train/steps.csv", "train/trace", "train/run.json", "."]
    place = context.random.choice(places)
    victim = context.directory / "victim"
    plants = {
        "a link to a file": lambda path: path.symlink_to(victim / "precious"),
        "a link to a directory": lambda path: path.symlink_to(victim),
        "a link to nothing": lambda path: path.symlink_to(victim / "new"),
        "a pipe": os.mkfifo,
        "a directory": lambda path: path.mkdir(),
        "a file": lambda path: path.write_text("x"),
        "an empty file": lambda path: path.write_text(""),
        "a device": lambda path: path.symlink_to("/dev/zero"),
    }
    name = context.random.choice(list(plants))
    path = context.directory / "work/run" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    plants[name](path)
    # A run's directory may be a link, which is then followed on purpose.
    if place == "." and "link to" in name:
        victim = None
    failure = _run(context, _program(context, "run"))
    if victim is None and not failure:
        for part in ("noise", "control", "train"):
            _forget(context.directory / "victim" / part)
            _forget(context.directory / "victim/new" / part)
        if (context.directory / "victim/new").is_dir():
            (context.directory / "victim/new").rmdir()
    return f"{name} at {place}", failure


def _forget(path):
    for inner in sorted(path.rglob("*"), reverse=True) if path.is_dir() else ():
        inner.rmdir() if inner.is_dir() else inner.unlink()
    if path.is_dir():
        path.rmdir()


def _named(context):
    """The run and the directory of temporary files have hostile names."""
    name = _name(context)
    return f"--out {name!r}", _run(context, _program(context, name), env={"TMPDIR": _name(context) or "/tmp"})


def _host(context):
    """The node has a hostile name."""
    name = context.random.choice((_name(context), "../../../victim/evil", "../../../victim/precious", "a/b", "node\n1"))
    outcome = _run(context, _program(context, "run"), env={"SLURMD_NODENAME": name})
    return f"SLURMD_NODENAME {name!r}", outcome


def _label(context):
    """A label or an option of the schedule is hostile."""
    name = _name(context)
    schedule = context.random.choice((f"{name}=memory.stream[bytes=2MiB] 20ms", f"memory.stream[bytes={name}] 20ms",
                                      f"io.write[directory={name},size=1MiB] 20ms", f"{name} 20ms",
                                      f"network.stream[hosts={name}] 20ms"))
    return f"--schedule {schedule!r}", _run(context, _noise(context, "run", schedule))


def _stand_ins(context, attack):
    folder = context.directory / "bin"
    folder.mkdir()
    for name, text in STAND_INS.items():
        (folder / name).write_text(f"#!/usr/bin/env bash\n{text}\n")
        (folder / name).chmod(0o755)
    (folder / "crosstalk").symlink_to(context.program("crosstalk"))
    return {"CROSSTALK_BIN": str(folder), "ATTACK": attack}


def _sbatch(context):
    """The batch script gets shell commands instead of numbers, from its environment and from what noise recorded."""
    attack = context.random.choice(("9[$(touch {canary})]", "$(touch {canary})", "1;touch {canary}", "`touch {canary}`",
                                    "08", "-0", "99999999999999999999", "1", "x")).format(canary=_canary(context))
    env = {"SLURM_JOB_ID": str(1000000 + os.getpid()), "SLURM_JOB_NUM_NODES": "1", **_stand_ins(context, attack)}
    names = ("SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_GPUS_PER_NODE", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_JOB_ID",
             "CROSSTALK_OUT", "CROSSTALK_MPI", "noise.csv")
    name = context.random.choice(names)
    if name != "noise.csv":
        env[name] = context.random.choice((attack, _name(context)))
    failure = _shell(context, ["bash", SCRIPTS / "co-schedule.sbatch", "--cpus", "0", "--noise-cpus", "1", "--", "ddl-train"], env)
    return f"co-schedule.sbatch, {name} {env.get(name, attack)!r}", failure


def _script(context):
    """So does local.sh, from its options, from TMPDIR and from what the training recorded."""
    attack = context.random.choice(("1000000", "9[$(touch {canary})]", "`touch {canary}`", "nan",
                                    "")).format(canary=_canary(context))
    env = {**_stand_ins(context, attack), "TMPDIR": _name(context) or "/tmp"}
    options = {"--out": "run", "--train-cpus": "0", "--noise-cpus": "1", "--ranks": "1"}
    name = context.random.choice(("--out", "--model", "--data", "--strategy", "--batch", "--ranks", "--duration",
                                  "--schedule", "--control-delay", "--seed", "--budget", "--train-cpus", "--noise-cpus"))
    options[name] = _name(context)
    words = [SCRIPTS / "local.sh", *(word for pair in options.items() for word in pair)]
    return f"local.sh {name} {options[name]!r}, TMPDIR {env['TMPDIR']!r}", _shell(context, words, env)


def _shell(context, words, env):
    """Scripts print what they do, so of several lines the last one has the reason."""
    environment = {leftovers.MARK: str(context.directory), **env}
    outcome = context.run(*words, cwd=context.directory / "work", env=environment, timeout=60)
    alive = leftovers.alive_after(context.directory, 5)
    if alive:
        return alive
    if outcome.hung:
        return f"hung for {outcome.seconds:.0f} s"
    if outcome.code not in (0, 1, 2, 3):
        return f"exit code {outcome.code}: {outcome.err[-300:]!r}"
    if outcome.code and not outcome.said:
        return f"exit code {outcome.code} without a word"
    if any(": line " in line for line in outcome.said):
        return f"the shell's own words: {next(line for line in outcome.said if ': line ' in line)!r}"
    return None
