#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sweep has one result per trial, whatever is killed, and refuses what it must in one line.

    sweep_test.py none|debian|venv [--kill|--same]     exit code 77: there is no such Optuna

none: Optuna is hidden. --kill: 64 trials, thirty times kill -9. --same: random trials and grids with Optuna and without.
"""
import contextlib
import csv
import math
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ["CROSSTALK_BIN"])
OPTUNA = sys.argv[1]
SEED = 20261128
COLUMNS = ["trial", "state", "value", "steps", "begin_ns", "end_ns", "host", "cpus", "retry_of"]
TRIAL = """
import math, sys, time
x, lr, rest = float(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
value = 1 + (x - 0.3) ** 2 + 0.1 * (math.log10(lr) + 2) ** 2
for step in range(1, 4):
    time.sleep(rest / 3)
    print(f"step={step} loss={value + 1 / step}", flush=True)
print(f"loss={value}")
"""
SPEC = """kind = sweep
command = {python} -S -E {trial} {{x}} {{lr}} {rest}
parameter x = -1.0..1.0
parameter lr = 0.0001..1 log
sampler = {sampler}
pruner = {pruner}
trials = {trials}
workers = {workers}
seed = 5
"""


def environment(optuna):
    """PYTHON for an Optuna of that kind; None if there is none."""
    python = ROOT / "build/python/bin/python" if optuna == "venv" else pathlib.Path("/usr/bin/python3")
    found = dict(os.environ, CROSSTALK_BIN=str(BIN), PYTHON=str(python), OMPI_ALLOW_RUN_AS_ROOT="1",
                 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    if optuna == "none":
        hidden = scratch / "hidden"
        hidden.mkdir(exist_ok=True)
        (hidden / "optuna.py").write_text("raise ImportError('hidden')\n", encoding="utf-8")
        return dict(found, PYTHONPATH=str(hidden))
    if not python.exists() or subprocess.run([python, "-c", "import optuna"], capture_output=True).returncode != 0:
        return None
    return found


def spec_file(name, sampler="random", pruner="none", trials=12, workers=0, rest=0.1, more=""):
    file = scratch / f"{name}.ini"
    text = SPEC.format(python=sys.executable, trial=scratch / "trial.py", sampler=sampler, pruner=pruner, trials=trials,
                       workers=workers, rest=rest)
    file.write_text(text + more, encoding="utf-8")
    return file


def sweep(spec, out, *words, env=None, prefix=()):
    return subprocess.run([*prefix, BIN / "crosstalk", "sweep", spec, "-o", out, *words], capture_output=True, text=True,
                          timeout=300, check=False, env=env or ENVIRONMENT)


def table(out):
    with open(out / "sweep.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def refused(code, says, done):
    assert done.returncode == code and says in done.stderr and len(done.stderr.splitlines()) == 1, done


def one_result_each(out, trials):
    rows = table(out)
    assert list(rows[0])[:len(COLUMNS)] == COLUMNS, list(rows[0])
    of = {row["trial"]: row for row in rows}
    results = []
    for row in rows:
        assert row["state"] in ("complete", "pruned", "failed"), row
        if row["state"] == "failed":
            assert any(other["retry_of"] == row["trial"] for other in rows) or not row["x"], f"{row} was not repeated"
            continue
        if row["state"] == "complete":
            value = 1 + (float(row["x"]) - 0.3) ** 2 + 0.1 * (math.log10(float(row["lr"])) + 2) ** 2
            assert abs(float(row["value"]) - value) < 1e-9, row
            assert int(row["begin_ns"]) < int(row["end_ns"]) and row["host"] and row["cpus"], row
        first = row
        while first["retry_of"]:
            assert (first["x"], first["lr"]) == (of[first["retry_of"]]["x"], of[first["retry_of"]]["lr"]), first
            first = of[first["retry_of"]]
        results.append(first["trial"])
    assert len(results) == len(set(results)) == trials, f"{len(results)} results of {len(set(results))} trials"
    return rows


def processes_of(out):
    """Process ids by what they are: driver, worker or part of a trial."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            variables = (entry / "environ").read_bytes().decode(errors="replace").split("\0")
        except (OSError, ValueError):
            continue
        if str(out) in words and "work" in words:
            found.append((int(entry.name), "worker"))
        elif any(one.startswith(f"CROSSTALK_SWEEP_TRIAL={out}/") for one in variables):
            found.append((int(entry.name), "trial"))
    return found


def nothing_left(out):
    end = time.monotonic() + 15
    while left := processes_of(out):
        assert time.monotonic() < end, f"still running: {left}"
        time.sleep(0.1)


def awaited(out, driver):
    """Waits until a trial runs."""
    while driver.poll() is None and not any(what == "trial" for _, what in processes_of(out)):
        time.sleep(0.02)


@contextlib.contextmanager
def ended(process):
    try:
        yield
    finally:
        process.kill()


def survives(kills, trials, sampler, rest):
    """Workers and drivers are killed at random moments, and the sweep is started again."""
    source = random.Random(SEED)
    spec = spec_file("killed", sampler=sampler, trials=trials, rest=rest)
    out = scratch / "killed"
    log = scratch / "killed.log"
    with subprocess.Popen(["sleep", "1000"]) as bystander, ended(bystander):
        masks = os.sched_getaffinity(0), os.sched_getaffinity(bystander.pid)
        killed, driver = 0, None
        while killed < kills:
            if driver is None or driver.poll() is not None:
                assert driver is None or driver.returncode == -signal.SIGKILL, (
                    driver.returncode, killed, log.read_text(encoding="utf-8"))
                driver = subprocess.Popen([BIN / "crosstalk", "sweep", spec, "-o", out], env=ENVIRONMENT,
                                          stdout=subprocess.DEVNULL, stderr=log.open("w"))
            if source.random() < 0.8:  # else also a worker that only begins
                awaited(out, driver)
            time.sleep(source.uniform(0.0, 1.5 * rest))
            victims = [pid for pid, what in processes_of(out) if what == "worker"] + [driver.pid]
            try:
                os.kill(source.choice(victims), signal.SIGKILL)
                killed += 1
            except ProcessLookupError:
                pass
            if driver.poll() is None:
                continue
            driver.wait()
        if driver.poll() is None:
            driver.wait(timeout=300)
        done = sweep(spec, out)
        assert done.returncode == 0, done
        assert masks == (os.sched_getaffinity(0), os.sched_getaffinity(bystander.pid)), "an affinity was changed"
    rows = one_result_each(out, trials)
    nothing_left(out)
    assert not list((out / "workers").iterdir()) or all(row["state"] != "running" for row in rows)
    repeated = sum(row["state"] == "failed" for row in rows)
    assert repeated > 0, "no kill has hit a trial"
    print(f"{trials} results after {killed} kills, {repeated} trials were repeated")


def optimum():
    spec = spec_file("tpe", sampler="tpe", trials=60, workers=1, rest=0)
    done = sweep(spec, scratch / "tpe")
    assert done.returncode == 0, done
    best = min(float(row["value"]) for row in one_result_each(scratch / "tpe", 60))
    assert best <= 1.02, f"{best}, the optimum is 1"
    page = (scratch / "tpe/report/index.html").read_text(encoding="utf-8")
    assert "60 of 60 trials have a result; best: trial" in done.stdout and "Best trials" in page


def pruned():
    done = sweep(spec_file("pruned", pruner="median", trials=24, rest=0.6), scratch / "pruned")
    assert done.returncode == 0, done
    states = [row["state"] for row in one_result_each(scratch / "pruned", 24)]
    assert "pruned" in states and "complete" in states, states


def same_draws():
    others = [environment(one) for one in ("debian", "venv")]
    others = [one for one in others if one is not None]
    if not others:
        print("SKIPPED: no Optuna")
        sys.exit(77)
    drawn = []
    for number, env in enumerate([environment("none"), *others]):
        out = scratch / f"same-{number}"
        done = sweep(spec_file("same", trials=6, workers=1, rest=0), out, env=env)
        assert done.returncode == 0, done
        drawn.append([(row["x"], row["lr"]) for row in one_result_each(out, 6)])
    assert all(one == drawn[0] for one in drawn) and len(set(drawn[0])) == 6, drawn


def grid():
    (scratch / "grid.ini").write_text(
        "kind = sweep\ncommand = sh -c 'echo loss=$(({a} * 10 + {b}))'\nparameter a = 1..3\nparameter b = 0, 5\n"
        "sampler = grid\n", encoding="utf-8")
    done = sweep(scratch / "grid.ini", scratch / "grid")
    assert done.returncode == 0, done
    assert sorted((row["a"], row["b"], float(row["value"])) for row in table(scratch / "grid")) == [
        (str(a), str(b), 10.0 * a + b) for a in (1, 2, 3) for b in (0, 5)]
    assert "best: trial 0, 10 with a=1 b=0" in done.stdout, done.stdout


def refusals():
    for number, (line, code, says) in enumerate((
            ("parameter y = 1..2", 2, "unknown parameter 'y': the command has no {y}"),
            ("command = x {x} {lr} {z}", 2, "no parameter 'z', which the command has"),
            ("parameter lr = 3..1", 2, "the range 3..1 is empty"),
            ("parameter lr =", 2, "no value for lr"),
            ("parameter lr = 0..1 log", 2, "must be above 0"),
            ("sampler = grit", 2, "did you mean grid?"),
            ("trails = 7", 2, "did you mean trials?"))):
        spec = spec_file(f"wrong-{number}")
        kept = [one for one in spec.read_text(encoding="utf-8").splitlines()
                if one.partition("=")[0] != line.partition("=")[0]]
        spec.write_text("\n".join([*kept, line]) + "\n", encoding="utf-8")
        refused(code, says, sweep(spec, scratch / "wrong"))
        assert not (scratch / "wrong").exists()
    refused(2, "different spec", sweep(spec_file("other", trials=3), scratch / "grid"))
    failing = spec_file("failing", trials=2)
    failing.write_text(re.sub("command = .*", "command = sh -c 'exit {x}{lr}'", failing.read_text(encoding="utf-8")),
                       encoding="utf-8")
    done = sweep(failing, scratch / "failing")
    assert done.returncode == 3 and "trial 0 failed: exit code" in done.stderr and "no trial has a value" in done.stdout, done
    if OPTUNA == "none":
        refused(77, "apt-get install python3-optuna", sweep(spec_file("needs", sampler="tpe"), scratch / "needs"))
        refused(77, "Optuna", sweep(spec_file("pruner", pruner="halving"), scratch / "pruner"))


def disk_full():
    """The third trial fills the disk: a result, that one or the next, cannot be written."""
    disk = scratch / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True).returncode != 0:
        print("not tried: a full disk, since no file system can be mounted here")
        return
    try:
        (scratch / "filling.py").write_text(
            (scratch / "trial.py").read_text(encoding="utf-8") +
            f"""
if sys.argv[4] == "2":
    try:
        with open("{disk}/filler", "wb", buffering=0) as filler:
            while True:
                filler.write(bytes(100))
    except OSError:
        pass
""", encoding="utf-8")
        spec = spec_file("full", trials=5, workers=1, rest=0)
        text = spec.read_text(encoding="utf-8").replace("trial.py {x} {lr} 0", "filling.py {x} {lr} 0 {trial}")
        spec.write_text(text, encoding="utf-8")
        refused(1, "is full: free some space", sweep(spec, disk / "sweep"))
        (disk / "filler").unlink()
        done = sweep(spec, disk / "sweep")
        assert done.returncode == 0, done
        rows = one_result_each(disk / "sweep", 5)
        assert sum(row["state"] == "failed" for row in rows) == 1, rows
    finally:
        subprocess.run(["umount", disk], check=True)


def beside_a_training():
    """Workers keep off a training's core, and its time line shows their trials."""
    cpus = sorted(os.sched_getaffinity(0))
    if not (BIN / "ddl-train").exists() or len(cpus) < 2:
        print("not tried: a sweep beside a training")
        return
    run = scratch / "training"
    words = ["--model", "emulated[compute=10ms,gradients=64KiB]", "--data", "synthetic", "--transport", "self",
             "--cpus", str(cpus[0]), "--duration", "120s", "--out", str(run)]
    with subprocess.Popen([BIN / "ddl-train", *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as training:
        try:
            end = time.monotonic() + 60
            steps = run / "train/steps.csv"
            while not steps.exists() or steps.read_text(encoding="utf-8").count("\n") < 3:
                assert training.poll() is None and time.monotonic() < end, "the training does not begin"
                time.sleep(0.05)
            spec = spec_file("beside", trials=4, rest=0)
            refused(2, f"holds CPU {cpus[0]}", sweep(spec, scratch / "beside", "--cpus", str(cpus[0])))
            done = sweep(spec, scratch / "beside")
            assert done.returncode == 0, done
            used = {row["cpus"] for row in one_result_each(scratch / "beside", 4)}
            assert all(str(cpus[0]) not in re.split("[-,]", one) for one in used), used
        finally:
            training.terminate()
    merged = subprocess.run([BIN / "trace-merge", run / "train/trace/traces.otf2", "--jobs", scratch / "beside/sweep.csv",
                             "-o", scratch / "merged"], capture_output=True, text=True, check=False)
    assert merged.returncode == 0 and not merged.stderr, merged
    told = subprocess.run([BIN / "trace-info", scratch / "merged/traces.otf2"], capture_output=True, text=True, check=True)
    assert "trials on " in told.stdout and "trial 3, complete" in told.stdout, told.stdout


with tempfile.TemporaryDirectory(prefix="sweep-test.") as name:
    scratch = pathlib.Path(name).resolve()
    (scratch / "trial.py").write_text(TRIAL, encoding="utf-8")
    ENVIRONMENT = environment(OPTUNA)
    if ENVIRONMENT is None:
        print(f"SKIPPED: no Optuna of {OPTUNA} here")
        sys.exit(77)
    SAMPLER = "random" if OPTUNA == "none" else "tpe"
    if "--same" in sys.argv:
        same_draws()
    elif "--kill" in sys.argv:
        survives(30, 64, SAMPLER, 0.5)
    else:
        grid()
        refusals()
        disk_full()
        survives(5, 12, SAMPLER, 0.2)
        if OPTUNA == "none":
            beside_a_training()
        else:
            optimum()
            pruned()
