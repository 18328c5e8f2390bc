#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sweep has one result per trial, whatever is killed, and refuses what it must in one line.

    sweep_test.py none|debian|venv [--kill|--same|--slurm|--harvest]     exit code 77: there is no such Optuna, or no Slurm

none: Optuna is hidden. --kill: 64 trials, thirty times kill -9. --same: random trials and grids with Optuna and without.
--slurm: a job array in the sandbox whose place CROSSTALK_SANDBOX_NOTE has. --harvest: harvest.ini, made small.
"""
import contextlib
import csv
import json
import math
import os
import pathlib
import random
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ["CROSSTALK_BIN"])
OPTUNA = sys.argv[1]
SEED = 20261128
COLUMNS = ["trial", "state", "value", "steps", "begin_ns", "end_ns", "host", "cpus", "retry_of", "counts"]
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
    # A training or sweep of another test may be on this machine, too.
    beside = "is not bound, so workers share its cores", "workers of another sweep run on the same cores"
    lines = [line for line in done.stderr.splitlines() if not line.endswith(beside)]
    assert done.returncode == code and says in done.stderr and len(lines) == 1, done


def one_result_each(out, trials):
    rows = table(out)
    assert list(rows[0])[:len(COLUMNS)] == COLUMNS, list(rows[0])
    of = {row["trial"]: row for row in rows}
    results = []
    for row in rows:
        assert row["state"] in ("complete", "pruned", "failed"), row
        assert row["counts"] == ("no" if row["state"] == "failed" else "yes"), row
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


def variables_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0")
    except OSError:  # it has ended
        return []


def processes_of(out):
    """Process ids by what they are: driver (or what waits for its death), worker or part of a trial."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            variables = variables_of(entry.name)
        except (OSError, ValueError):
            continue
        if str(out) in words and "work" in words:
            found.append((int(entry.name), "worker"))
        elif str(out) in words and "sweep" in words:
            found.append((int(entry.name), "driver"))
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
    if OPTUNA == "venv":  # Debian's would need scikit-learn for it
        with open(scratch / "tpe/importance.csv", newline="", encoding="utf-8") as file:
            importance = {row["parameter"]: float(row["importance"]) for row in csv.DictReader(file)}
        assert set(importance) == {"x", "lr"} and all(0 <= one <= 1 for one in importance.values()), importance
        assert (scratch / "tpe/report/importance.svg").exists() and ">Importance<" in page


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
            ("parameter y = 1..2", 2, "the command does not use the parameter 'y': it has no {y}"),
            ("command = x {x} {lr} {z}", 2, "the command has {z}, but there is no such parameter"),
            ("parameter lr = 3..1", 2, "the range 3..1 is empty"),
            ("parameter lr =", 2, "no value for lr"),
            ("parameter lr = 0.1, , 0.2", 2, "the list 0.1, , 0.2 has an empty value"),
            ("value-line = loss (", 2, "value-line loss (: missing ), unterminated subpattern"),
            ("value-line = loss (?:.*)", 2, "value-line loss (?:.*): needs a group"),
            *((f"parameter {name} = 1..2", 2, f"'{name}' cannot be the name") for name in (*COLUMNS, "out", "9")),
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
    assert all(line.startswith(("crosstalk: ", "sweep: ")) for line in done.stderr.splitlines()), done.stderr
    assert [(row["state"], row["counts"]) for row in table(scratch / "failing")] == 2 * [("failed", "yes")]
    if OPTUNA == "none":
        refused(77, "apt-get install python3-optuna", sweep(spec_file("needs", sampler="tpe"), scratch / "needs"))
        refused(77, "Optuna", sweep(spec_file("pruner", pruner="halving"), scratch / "pruner"))


def lost_early():
    """A trial whose worker is killed before it has parameters is none."""
    spec = spec_file("early", trials=3, workers=1, rest=0)
    out = scratch / "early"
    assert sweep(spec, out).returncode == 0
    with open(out / "trials.jsonl", "a", encoding="utf-8") as journal:
        journal.write(json.dumps({"number": 3, "state": "running", "params": {}, "run": {"worker": "killed"}}) + "\n")
    done = sweep(spec, out)
    assert done.returncode == 0 and "3 of 3 trials have a result" in done.stdout, done
    assert [row["counts"] for row in table(out)] == ["yes", "yes", "yes", "no"], table(out)
    status = subprocess.run([BIN / "crosstalk", "campaign", "status", out], capture_output=True, text=True, check=True)
    assert "3 of 3 trials have ended, 0 failed, 0 running" in status.stdout, status.stdout
    assert "3 complete, 0 pruned, 0 failed of 3" in (out / "report/index.html").read_text(encoding="utf-8")


def disk_full(left):
    """The third trial fills the disk, and ends with so many bytes left: that trial's result, or another, is lost."""
    disk = scratch / f"disk-{left}"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True).returncode != 0:
        print("not tried: a full disk, since no file system can be mounted here")
        return
    try:
        (scratch / "filling.py").write_text(
            (scratch / "trial.py").read_text(encoding="utf-8") +
            f"""
import os
if sys.argv[4] == "2":
    try:
        with open("{disk}/filler", "wb", buffering=0) as filler:
            while True:
                filler.write(bytes(100))
    except OSError:
        os.truncate("{disk}/filler", os.stat("{disk}/filler").st_size - {left})
    sys.exit({1 if left else 0})
""", encoding="utf-8")
        spec = spec_file(f"full-{left}", trials=5, workers=1, rest=0)
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


def beside_a_sweep():
    """Workers keep off the core of another sweep's, even if its trials are trainings, and share it if told to."""
    cpus = sorted(os.sched_getaffinity(0))
    if not (BIN / "ddl-train").exists() or len(cpus) < 2:
        print("not tried: a sweep beside a sweep")
        return
    (scratch / "first.ini").write_text(
        "kind = sweep\ncommand = ddl-train --model emulated[compute={ms}ms,gradients=64KiB] --data synthetic --transport "
        "self --trace off --duration 60s\nparameter ms = 5..9\ntrials = 1\nworkers = 1\n", encoding="utf-8")
    with subprocess.Popen([BIN / "crosstalk", "sweep", scratch / "first.ini", "-o", scratch / "first", "--cpus",
                           str(cpus[0])], env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as first:
        try:
            end = time.monotonic() + 60
            while not (scratch / "first/trials/000000/run/train/steps.csv").exists():
                assert first.poll() is None and time.monotonic() < end, "the first sweep's trial does not begin"
                time.sleep(0.05)
            spec = spec_file("second", trials=3, workers=1, rest=0)
            for name, words in (("other", ()), ("shared", ("--cpus", str(cpus[0])))):
                done = sweep(spec, scratch / name, *words)
                assert done.returncode == 0, done
                used = {row["cpus"] for row in one_result_each(scratch / name, 3)}
                assert (used == {str(cpus[0])}) == (name == "shared"), (name, used)
            assert "workers of another sweep run on the same cores" in done.stderr, done
            assert first.poll() is None, "the first sweep has ended"
        finally:
            first.terminate()


def harvest():
    """The campaign says what the training lost by the sweep, and what trials it had for that; beside the empty node in money."""
    cpus = sorted(os.sched_getaffinity(0))
    if not (BIN / "ddl-train").exists() or len(cpus) < 2:
        print("SKIPPED: a sweep beside a training needs ddl-train and a second core")
        sys.exit(77)

    def run(*words, codes=(0,)):
        done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=280, check=False, cwd=ROOT,
                              env=dict(ENVIRONMENT, PATH=f"{BIN}:{os.environ['PATH']}"))
        assert done.returncode in codes, done
        return done.stdout

    text = (ROOT / "jobscripts/specs/harvest.ini").read_text(encoding="utf-8")
    for key, value in (("models", "emulated[compute=20ms,gradients=64KiB]"), ("data", "synthetic"), ("repetitions", 1),
                       ("duration", "40s")):
        text, found = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", text)
        assert found == 1, f"harvest.ini has no {key}"
    text = text.replace("jobscripts/specs/harvest-trials.ini", str(spec_file("trials", trials=100000)))  # short trials
    (scratch / "harvest.ini").write_text(text, encoding="utf-8")
    run(BIN / "crosstalk", "campaign", "plan", scratch / "harvest.ini", "-o", scratch / "campaign")
    run(BIN / "crosstalk", "campaign", "run", scratch / "campaign")
    (table_of_run,) = scratch.glob("campaign/runs/*/report/harvest.csv")
    schedule = re.search(r"(?m)^designed = rotation\((trials=job.run\[.*?\])", text)[1]
    run(BIN / "noisegen", "--schedule", f"rotation({schedule}; slot=2s)", "--cpus", cpus[-1], "--duration", "20s", "--out",
        scratch / "empty")
    told = run(BIN / "interference", "analyse", table_of_run.parents[1], "--empty-node", scratch / "empty",
               "--node-hour-cost", "2.40", "--out", scratch / "priced", codes=(0, 3))
    assert re.search(r"trials: training .* %\), neighbour \d+ trials/h, \d+ % \(.*\) of its speed on an empty node", told), told
    with open(scratch / "priced/harvest.csv", newline="", encoding="utf-8") as file:
        (row,) = [one for one in csv.DictReader(file) if one["factor"] == "trials"]
    assert float(row["per_s"]) > 0 and float(row["neighbour_gets_per_node_hour"]) > 0, row
    (trials,) = table_of_run.parents[1].glob("log/*.sweep/sweep.csv")
    with open(trials, newline="", encoding="utf-8") as file:
        assert sum(one["state"] == "complete" for one in csv.DictReader(file)) > 0, trials.read_text(encoding="utf-8")


def job_array():
    """Tasks of a job array share one sweep, each on the CPUs of its allocation, and repeat what a killed task has lost."""
    note = pathlib.Path(os.environ["CROSSTALK_SANDBOX_NOTE"])
    if not note.exists():
        print("SKIPPED: no Slurm here")
        sys.exit(77)
    given = subprocess.run([ROOT / "jobscripts/slurm-sandbox.sh", "env", note.read_text(encoding="utf-8").strip()],
                           capture_output=True, text=True, check=True).stdout
    env = dict(ENVIRONMENT, **dict(word.split("=", 1) for word in shlex.split(given) if "=" in word))
    trials, out = 24, scratch / "array"
    spec = spec_file("array", sampler=SAMPLER, trials=trials, rest=2)
    job = slurm(env, "sbatch", "--parsable", "--array=1-4", f"--output={scratch}/task-%a.log",
                ROOT / "jobscripts/sweep.sbatch", spec, out)
    try:
        within(60, lambda: (out / "sweep.csv").exists() and any(row["state"] == "complete" for row in table(out)), env)
        time.sleep(1)  # tasks that began together are in the middle of their next trial then
        within(60, lambda: any(what == "trial" and "SLURM_ARRAY_TASK_ID=1" in variables_of(pid)
                               for pid, what in processes_of(out)), env)
        slurm(env, "scancel", "--signal=KILL", "--full", f"{job}_1")
        within(200, lambda: not slurm(env, "squeue", "-h", "-j", job), env)
    finally:
        subprocess.run(["scancel", "--quiet", job], env=env, check=False)
    codes = {task: re.search(r"ExitCode=(\S+)", slurm(env, "scontrol", "-o", "show", "job", f"{job}_{task}"))[1]
             for task in range(1, 5)}
    logs = "\n".join(file.read_text(encoding="utf-8") for file in sorted(scratch.glob("task-*.log")))
    assert codes[1] != "0:0" and {codes[task] for task in (2, 3, 4)} == {"0:0"}, (codes, logs)
    rows = one_result_each(out, trials)
    nothing_left(out)
    assert {row["host"] for row in rows} == {"n1", "n2"}, {row["host"] for row in rows}
    assert all(row["cpus"].isdigit() for row in rows), {row["cpus"] for row in rows}
    assert any(row["state"] == "failed" for row in rows), "the killed task had no trial"
    assert f"{trials} of {trials} trials have a result" in logs and (out / "report/index.html").exists(), logs


def slurm(env, *words):
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    return done.stdout.strip()


def within(seconds, condition, env):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, slurm(env, "squeue") + slurm(env, "sinfo", "-N")
        time.sleep(0.1)


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
    elif "--harvest" in sys.argv:
        harvest()
    elif "--slurm" in sys.argv:
        job_array()
    elif "--kill" in sys.argv:
        survives(30, 64, SAMPLER, 0.5)
    else:
        grid()
        refusals()
        if OPTUNA == "none":
            disk_full(left=0)
            disk_full(left=64 * 1024)
            survives(5, 12, SAMPLER, 0.2)
            lost_early()
            beside_a_training()
            beside_a_sweep()
        else:
            optimum()
            pruned()
