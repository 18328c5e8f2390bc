#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/exit-codes-and-json.md is correct: each program ends with each of its exit codes, and its JSON has
the members that the table names. Rows of programs that were not built are skipped. Exit code 77 if none was built.

Rows of programs that were not built are skipped. Exit code 77 if none was built.
"""
import json
import os
import re
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from tried_runs import (
    BIN, OWN_JOB, ROOT, Runs, TRAINING, alone, corrupt_set, fake_file, lost_checkpoint, no_digits, noise_log, other_profile,
    own_job, preloaded, pressing_hard, probe, report_of, saves_of, stopped, stored_state, without_io_uring)

PAGE = ROOT / "docs/exit-codes-and-json.md"
wrong = []


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def rows():
    """By program: the exit codes whose cell has a text, and the text of the last column."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("| program |"))
    codes = cells(lines[begin])[1:-1]
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        row = cells(line)
        texts = dict(zip(codes, row[1:-1]))
        yield row[0].strip("`"), {int(code) for code, text in texts.items() if text}, row[-1]


def json_of(text):
    """(option or none, file or none, members) of each JSON that the last column names."""
    for part in filter(None, text.split("; ")):
        head, _, members = part.partition(": ")
        names = re.findall(r"`([^`]+)`", members)
        for how in head.split(" and "):
            quoted = re.search(r"`([^`]+)`", how)[1]
            if how.startswith("prints"):
                yield quoted, None, names
            else:
                yield None, quoted, names


def scenarios(runs, pool):
    """Yields each (program, exit code) with a call that ends with that code. The pool makes runs of many seconds in the
    meantime."""
    call = runs.call
    measured = pool.submit(own_job, runs, runs.directory / "own")
    uncovered = pool.submit(own_job, runs, runs.new(), end_noise=True)
    pool.submit(runs.run)
    pool.submit(runs.uncovered)
    noise = ("noisegen", "cpu.spin", "200ms", "--cpus", "all", "--share")
    calibrate = ("noisegen", "calibrate", "cpu.spin", "--round", "10ms", "--rounds", "1")
    uring = "io.write[engine=io_uring]"
    analyse = ("interference", "analyse", "--draws", "199", "--out")
    late = runs.archive
    shut = runs.cut_off
    yield "noisegen", 0, lambda: call(*noise, "--out", runs.new())
    yield "noisegen", 1, lambda: call(*noise, "--out", fake_file(runs))
    yield "noisegen", 2, lambda: call("noisegen", "cpu.spinn", "1s")
    yield "noisegen", 3, lambda: call("noisegen", "cpu.spin[rate=1000000/s]", "1500ms", "--cpus", "all", "--share")
    yield "noisegen", 77, lambda: call("noisegen", uring, "200ms", preexec_fn=without_io_uring)
    yield "noisegen calibrate", 0, lambda: call(*calibrate, "--limits", runs.new("limits"))
    yield "noisegen calibrate", 1, lambda: call(*calibrate, "--limits", "/proc/no/file")
    yield "noisegen calibrate", 2, lambda: call(*calibrate, "--rounds", "0")
    yield "noisegen calibrate", 3, lambda: stopped(
        runs, "noisegen", "calibrate", "cpu.spin", "--rounds", "100", "--limits", runs.new("limits"))
    yield "noisegen calibrate", 77, lambda: call(
        "noisegen", "calibrate", uring, "--rounds", 1, "--limits", runs.new("limits"), preexec_fn=without_io_uring)
    yield "noisegen limits", 0, lambda: call("noisegen", "limits", "--limits", calibrated(runs))
    yield "noisegen limits", 1, lambda: call("noisegen", "limits", "--limits", runs.new("limits"))
    yield "noisegen limits", 2, lambda: call("noisegen", "limits", "--limit", "x")
    yield "noisegen probe", 0, lambda: call(*probe(runs, "--blocks", 2, "--slot", "50ms", "--out", runs.new()))
    yield "noisegen probe", 1, lambda: call(*probe(runs, "--blocks", 2, "--slot", "50ms", "--out", fake_file(runs)))
    yield "noisegen probe", 2, lambda: call(*probe(runs, "--blocks", 0))
    yield "noisegen probe", 3, lambda: stopped(runs, *probe(runs, "--blocks", 50, "--slot", "5s"))
    yield "noisegen probe", 77, lambda: call(
        "noisegen", "probe", uring, "--blocks", 2, preexec_fn=without_io_uring)
    stored = lambda: stored_state(runs)
    yield "ddl-alter", 0, lambda: call("ddl-alter", stored(), "--out", runs.new())
    yield "ddl-alter", 1, lambda: call("ddl-alter", fake_file(runs), "--out", runs.new())
    yield "ddl-alter", 2, lambda: call("ddl-alter", stored())
    yield "ddl-alter difference", 0, lambda: call("ddl-alter", "difference", stored(), stored(), "--out", runs.new())
    yield "ddl-alter difference", 1, lambda: call(
        "ddl-alter", "difference", stored(), fake_file(runs), "--out", runs.new())
    yield "ddl-alter difference", 2, lambda: call("ddl-alter", "difference", stored(), "--out", runs.new())
    yield "ddl-train", 0, lambda: call("ddl-train", *TRAINING, "--steps", 20, "--out", runs.new())
    yield "ddl-train", 1, lambda: call("ddl-train", *TRAINING, "--steps", 20, "--out", fake_file(runs))
    yield "ddl-train", 2, lambda: call("ddl-train", "--strategy", "naiv", "--out", runs.new())
    yield "ddl-train", 3, lambda: lost_checkpoint(runs)
    yield "ddl-train", 77, lambda: call("ddl-train", "--data", "digits", "--out", runs.new(), env=no_digits())
    yield "ddl-code", 0, lambda: call("ddl-code", "--list")
    yield "ddl-code", 2, lambda: call("ddl-code", "inf")
    plan = ("ddl-code", "plan", "--simulate", "0", "--out")
    yield "ddl-code plan", 0, lambda: call(*plan, runs.new())
    yield "ddl-code plan", 1, lambda: call(*plan, fake_file(runs) / "below")
    yield "ddl-code plan", 2, lambda: call("ddl-code", "plan", "--grid", "5")
    yield "ddl-code info", 0, lambda: call("ddl-code", "info", "codenet")
    yield "ddl-code info", 2, lambda: call("ddl-code", "info", "codnet")
    yield "ddl-data", 0, lambda: call("ddl-data", "--list")
    for program in ("ddl-data", "interference", "crosstalk", "crosstalk campaign"):
        if program != "ddl-data":
            yield program, 0, lambda program=program: call(*program.split(), "--help")
        yield program, 2, lambda program=program: call(*program.split(), "inf")
    for command, words in (("generate", ("digits",)), ("convert", ("digits",))):
        name = f"ddl-data {command}"
        made = ("ddl-data", command, "synthetic[samples=100]")
        yield name, 0, lambda made=made: call(*made, "--out", runs.new())
        yield name, 1, lambda made=made: call(*made, "--out", fake_file(runs) / "below")
        yield name, 2, lambda made=made: call(*made, "--to", "shard", "--out", runs.new())
        yield name, 77, lambda command=command: call(
            "ddl-data", command, "digits", "--out", runs.new(), env=no_digits())
    yield "ddl-data info", 0, lambda: call("ddl-data", "info", "synthetic")
    yield "ddl-data info", 1, lambda: call("ddl-data", "info", "--check", corrupt_set(runs))
    yield "ddl-data info", 2, lambda: call("ddl-data", "info", "synthetic[sample=1]")
    yield "interference analyse", 0, lambda: call(*analyse, runs.new(), runs.run())
    yield "interference analyse", 1, lambda: call(*analyse, runs.new(), runs.directory)
    yield "interference analyse", 2, lambda: call(*analyse, runs.run(), runs.run())
    yield "interference analyse", 3, lambda: call(*analyse, runs.new(), runs.uncovered())
    no_browser = dict(os.environ, PATH="/nowhere")
    yield "interference analyse", 77, lambda: call(*analyse, runs.new(), runs.run(), "--pdf", env=no_browser)
    yield "interference exposure", 77, lambda: call(
        "interference", "exposure", *runs.of(runs.run()), runs.new(), "--pdf", env=no_browser)
    yield "interference metrics", 0, lambda: call("interference", "metrics")
    yield "interference metrics", 2, lambda: call("interference", "metrics", "--jsn")
    yield "interference explain", 0, lambda: call("interference", "explain", "slowdown")
    yield "interference explain", 2, lambda: call("interference", "explain", "slowdwn")
    yield "interference summary", 0, lambda: call("interference", "summary", reported(runs))
    yield "interference summary", 1, lambda: call("interference", "summary", runs.new())
    yield "interference summary", 2, lambda: call("interference", "summary")
    yield "interference outcomes", 0, lambda: call("interference", "outcomes", trials(runs), "--out", runs.new())
    yield "interference outcomes", 1, lambda: call("interference", "outcomes", runs.new(), "--band", runs.new())
    yield "interference outcomes", 2, lambda: call("interference", "outcomes", trials(runs), "--fit", "-1")
    yield "interference outcomes", 3, lambda: call(
        "interference", "outcomes", trials(runs, positive="ended"), "--out", runs.new())
    yield "interference exposure", 0, lambda: call("interference", "exposure", *runs.of(runs.run()), runs.new())
    yield "interference exposure", 1, lambda: call(
        "interference", "exposure", "--train", late(), "--noise", late(), "--out", runs.new())
    yield "interference exposure", 2, lambda: call("interference", "exposure", "--train", late())
    yield "interference exposure", 3, lambda: call("interference", "exposure", *runs.of(runs.uncovered()), runs.new())
    compare = lambda: ("--quiet", runs.steps("q1.csv", 10_000_000), runs.steps("q2.csv", 10_010_000), "--noisy",
                       runs.steps("n1.csv", 11_000_000), runs.steps("n2.csv", 11_020_000), "--out")
    yield "interference compare", 0, lambda: call("interference", "compare", *compare(), runs.new())
    yield "interference compare", 1, lambda: call(
        "interference", "compare", "--quiet", fake_file(runs, "a.csv"), fake_file(runs, "b.csv"), "--noisy",
        fake_file(runs, "c.csv"), fake_file(runs, "d.csv"), "--out", runs.new())
    yield "interference compare", 2, lambda: call("interference", "compare", *compare(), runs.directory)
    observe = lambda log, out: ("interference", "observe", "--train", runs.steps("q1.csv", 10_000_000), "--noise", log,
                                "--out", out)
    yield "interference observe", 0, lambda: call(*observe(noise_log(runs, 0.0), runs.new()))
    yield "interference observe", 1, lambda: call(*observe(fake_file(runs, "log.csv"), runs.new()))
    yield "interference observe", 2, lambda: call(*observe(noise_log(runs, 0.0), runs.directory))
    yield "interference observe", 3, lambda: call(*observe(noise_log(runs, 9000.0), runs.new()))
    yield "interference controls", 0, lambda: call("interference", "controls", reported(runs))
    yield "interference controls", 1, lambda: call("interference", "controls", runs.directory)
    yield "interference controls", 2, lambda: call("interference", "controls")
    yield "interference predict", 0, lambda: call("interference", "predict", runs.run(), "--ranks", "1..16")
    yield "interference predict", 1, lambda: call("interference", "predict", runs.directory, "--ranks", 4)
    yield "interference predict", 2, lambda: call("interference", "predict", runs.run())
    yield "interference predict", 3, lambda: call("interference", "predict", *pressing_hard(runs))
    saved = lambda name, **how: call("interference", "checkpoints", saves_of(runs, name, **how), "--mtbf", "24h",
                                     "--format", "json")
    yield "interference checkpoints", 0, lambda: saved("saved")
    yield "interference checkpoints", 1, lambda: saved("unsaved", saves=0)
    yield "interference checkpoints", 2, lambda: call("interference", "checkpoints", saves_of(runs, "often"))
    yield "interference checkpoints", 3, lambda: saved("cut", cut_off=True)
    yield "interference so-far", 0, lambda: call("interference", "so-far", runs.run())
    yield "interference so-far", 1, lambda: call("interference", "so-far", runs.new())
    yield "interference so-far", 2, lambda: call("interference", "so-far", runs.run(), "--until", "tired")
    yield "crosstalk run", 0, measured.result
    yield "crosstalk run", 1, lambda: call("crosstalk", "run", "--out", runs.new(), "--", "false")
    yield "crosstalk run", 2, lambda: call("crosstalk", "run", "--out", runs.new())
    yield "crosstalk run", 3, uncovered.result
    yield "crosstalk cores", 0, lambda: call("crosstalk", "cores", "--dry-run", "--", "true")
    yield "crosstalk cores", 1, lambda: call("crosstalk", "cores", "--out", runs.new(), "--", "false")
    yield "crosstalk cores", 2, lambda: call("crosstalk", "cores", "--levels", "4", "--", "false")
    for code, job in enumerate((("bash", "-c", OWN_JOB), ("false",), ())):
        yield "crosstalk try", code, lambda job=job: call("crosstalk", "try", "--duration", "2s", "--", *job, env=preloaded())
    campaign = lambda command, *words: call("crosstalk", "campaign", command, *words)
    yield "crosstalk campaign plan", 0, lambda: campaign("plan", spec(runs), "--out", runs.new())
    yield "crosstalk campaign plan", 1, lambda: campaign("plan", runs.directory / "no.ini", "--out", runs.new())
    yield "crosstalk campaign plan", 2, lambda: campaign("plan", spec(runs))
    yield "crosstalk campaign run", 0, lambda: campaign("run", planned(runs))
    yield "crosstalk campaign run", 1, lambda: campaign("run", cut_off_plan(runs))
    yield "crosstalk campaign run", 2, lambda: campaign("run", planned(runs), "--jobs", 0)
    yield "crosstalk campaign run", 3, lambda: campaign("run", planned(runs, job="false"), "--retries", 0)
    for command in ("status", "stop"):
        yield f"crosstalk campaign {command}", 0, lambda command=command: campaign(command, planned(runs))
        yield f"crosstalk campaign {command}", 1, lambda command=command: campaign(command, cut_off_plan(runs))
        yield f"crosstalk campaign {command}", 2, lambda command=command: campaign(command, runs.directory)
    yield "crosstalk campaign collect", 0, lambda: campaign("collect", planned(runs))
    yield "crosstalk campaign collect", 1, lambda: campaign("collect", planned(runs, job="false"))
    yield "crosstalk campaign collect", 2, lambda: campaign("collect", runs.directory)
    sweep = lambda text, **how: call("crosstalk", "sweep", sweep_spec(runs, text), "--out", runs.new(), **how)
    yield "crosstalk sweep", 0, lambda: sweep("echo loss={x}")
    yield "crosstalk sweep", 1, lambda: call("crosstalk", "sweep", runs.directory / "no.ini", "--out", runs.new())
    yield "crosstalk sweep", 2, lambda: sweep("echo loss={y}")
    yield "crosstalk sweep", 3, lambda: sweep("false {x}")
    yield "crosstalk sweep", 77, lambda: sweep("echo loss={x}", env={**os.environ, "PYTHON": "none"})
    for program in ("interference", "crosstalk"):
        compared = lambda *words, program=program: call(
            program, "diff", report_of(runs, "slow", 4.0), *words, "--out", runs.new(), "--fail-on", "worse")
        name = f"{program} diff"
        yield name, 0, lambda compared=compared: compared(report_of(runs, "fast", 1.0))
        yield name, 1, lambda compared=compared: compared(report_of(runs, "slower", 9.0))
        yield name, 2, lambda compared=compared: compared(report_of(runs, "untrusted", 1.0, trustworthy=False))
    view = lambda: report_of(runs, "shown", 1.0)
    yield "crosstalk view", 0, lambda: call("crosstalk", "view", view(), env=with_screen(runs))
    yield "crosstalk view", 1, lambda: call("crosstalk", "view", runs.directory)
    yield "crosstalk view", 2, lambda: call("crosstalk", "view", view(), "--port", -1)
    yield "crosstalk view", 77, lambda: call("crosstalk", "view", view(), "--serve", env={**os.environ, "PYTHON": "none"})
    yield "crosstalk prune", 0, lambda: pruned(runs)
    yield "crosstalk prune", 1, lambda: pruned(runs, "taken", record_is_folder=True)
    yield "crosstalk prune", 2, lambda: call("crosstalk", "prune", view())
    yield "crosstalk doctor", 0, lambda: call("crosstalk", "doctor")
    yield "crosstalk doctor", 2, lambda: call("crosstalk", "doctor", "--jsn")
    yield "crosstalk doctor", 77, lambda: alone(runs, "crosstalk", "doctor")
    simulation = ("effects-simulation", "--runs", 2, "--draws", 9)
    yield "effects-simulation", 0, lambda: call(*simulation)
    yield "effects-simulation", 1, lambda: call(*simulation, "--csv", fake_file(runs) / "below.csv")
    yield "effects-simulation", 2, lambda: call("effects-simulation", "--runs", "none")
    for tool in ("trace-info", "trace-waits", "trace-path", "trace-steps"):
        check = ["--check"] if tool == "trace-info" else []
        yield tool, 0, lambda tool=tool: call(tool, late())
        yield tool, 1, lambda tool=tool, check=check: call(tool, *check, shut())
        yield tool, 2, lambda tool=tool: call(tool, late(), "--regoin", "x")
    yield "trace-steps", 3, lambda: call("trace-steps", runs.wordless())
    yield "trace-cube", 0, lambda: call("trace-cube", late(), "-o", runs.new("x.cubex"))
    yield "trace-cube", 1, lambda: call("trace-cube", shut(), "-o", runs.new("x.cubex"))
    yield "trace-cube", 2, lambda: call("trace-cube", late(), "-o", fake_file(runs))
    yield "trace-cube", 3, lambda: call("trace-cube", late(), "--against", other_profile(runs))
    merge = lambda run: [run / "train/trace/traces.otf2", *sorted((run / "noise").glob("*/trace/traces.otf2")), "-o"]
    yield "trace-merge", 0, lambda: call("trace-merge", *merge(runs.run()), runs.new())
    yield "trace-merge", 1, lambda: call("trace-merge", shut(), late(), "-o", runs.new())
    yield "trace-merge", 2, lambda: call("trace-merge", *merge(runs.run()), runs.directory)
    yield "trace-convert", 0, lambda: call("trace-convert", kineto(runs), "-o", runs.new())
    yield "trace-convert", 1, lambda: call("trace-convert", fake_file(runs), "-o", runs.new())
    yield "trace-convert", 2, lambda: call("trace-convert", kineto(runs))
    yield "trace-os", 0, lambda: call("trace-os", "--", "true")
    yield "trace-os", 1, lambda: call("trace-os", "--", "false")
    yield "trace-os", 2, lambda: call("trace-os", "--pid", "999999999", "1s")
    yield "trace-os", 3, lambda: call("trace-os", "--", "sh", "-c", "exit 3")
    yield "trace-synth", 0, lambda: call("trace-synth", late().parent.with_suffix(".spec"), "-o", runs.new())
    yield "trace-synth", 1, lambda: call("trace-synth", runs.directory / "no.spec", "-o", runs.new())
    yield "trace-synth", 2, lambda: call("trace-synth", fake_file(runs), "-o", runs.new())
    yield "trace-record", 0, lambda: call("trace-record", "-o", runs.new(), "--", "true", env=preloaded())
    yield "trace-record", 1, lambda: call("trace-record", "-o", runs.new(), "--", "false", env=preloaded())
    yield "trace-record", 2, lambda: call("trace-record", "-o", runs.new(), "--", "no-such-program")
    yield "trace-record", 3, lambda: call("trace-record", "-o", runs.new(), "--", "sh", "-c", "exit 3", env=preloaded())
    for code in (0, 1, 3):
        exits = python_that_exits(runs, code)
        yield "crosstalk-python", code, lambda exits=exits: call("crosstalk-python", exits)
    yield "crosstalk-python", 2, lambda: call("crosstalk-python", "no_such.py")
    yield "trace-record", 77, lambda: alone(runs, "trace-record", "--", "true")


def spec(runs, job="bash -c 'while sleep 0.01; do echo step $((++step)); done'"):
    text = f"command = {job}\nstep-line = step ([0-9]+)\nnoise = placebo\nrepetitions = 1\nduration = 1s\nwait = 100ms\n"
    return runs.made(f"spec-{len(job)}.ini", lambda path: path.write_text(text))


def sweep_spec(runs, command):
    text = f"kind = sweep\ncommand = {command}\nparameter x = 1..2\nsampler = grid\nworkers = 1\n"
    return runs.made(f"sweep-{'-'.join(re.findall('[a-z]+', command))}.ini", lambda path: path.write_text(text))


def planned(runs, **job):
    """A campaign of one run with noise that does nothing, and one run without noise."""
    text = spec(runs, **job)
    return runs.made(text.stem, lambda path: runs.call("crosstalk", "campaign", "plan", text, "--out", path))


def cut_off_plan(runs):
    def make(path):
        shutil.copytree(planned(runs), path)
        lines = (path / "plan.csv").read_text().splitlines(keepends=True)
        (path / "plan.csv").write_text("".join(lines[:-1]))

    return runs.made("cut-off-plan", make)


def kineto(runs):
    return runs.made("kineto.json", lambda path: path.write_text(
        '{"traceEvents": [{"ph": "X", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}'))


def python_that_exits(runs, code):
    return runs.made(f"exit_{code}.py", lambda path: path.write_text(f"import sys\nsys.exit({code})\n"))


def calibrated(runs):
    return runs.made("known.json", lambda path: runs.call(
        "noisegen", "calibrate", "cpu.spin", "--round", "10ms", "--rounds", 1, "--limits", path))


def reported(runs):
    run = runs.run()
    if not (run / "report").exists():
        runs.call("interference", "analyse", "--draws", "199", run)
    return run


def with_screen(runs):
    """A display, and a program that notes what it is given."""
    opener = runs.directory / "screen/xdg-open"
    opener.parent.mkdir(exist_ok=True)
    opener.write_text("#!/bin/sh\n")
    opener.chmod(0o755)
    return {**os.environ, "DISPLAY": ":9", "PATH": f"{opener.parent}:{os.environ['PATH']}"}


def pruned(runs, name="pruned", record_is_folder=False):
    """Prunes a copy, because other tests use the run."""
    copy = runs.directory / name
    shutil.copytree(reported(runs), copy)
    if record_is_folder:
        (copy / "pruned.json").mkdir()
    return runs.call("crosstalk", "prune", copy)


def trials(runs, positive="collapsed"):
    """A null trial and a positive one, and the trainings of eight seeds for the band."""
    out = runs.new()
    names = "trial,block,kind,step,location,bits,count,target,rank,guard,steps,seed"
    found = ("trial,kind,strategy,rank,step,path,bits,guard,class,accuracy,loss,first_difference,caught,checksum,"
             "state_checksum,index,drawn_from,accuracies,largest,not_finite,steps,seconds")
    training = {"model": "mlp", "strategy": "ddp", "shape": {"kind": "image", "classes": 10}}
    tables = {"trials.csv": [names, "n,1,null,5,,,1,model,all,none,5,1", "p,1,positive,5,,,1,model,all,none,5,1"],
              "outcomes.csv": [found, "n,null,ddp,all,5,,,none,masked,0.9,0.1,,,a,a,,0,0:0.9 5:0.9,1,0,5,0.1",
                               f"p,positive,ddp,all,5,,,none,{positive},0.9,nan,0,,b,b,,0,0:0.9 5:0.9,1,1,5,0.1"]}
    (out / "train").mkdir(parents=True)
    for name, lines in tables.items():
        (out / "train" / name).write_text("\n".join(lines) + "\n")
    record = {"ranks": 1, "training": training, "result": {"trials": {"held_out": 100}, "parameters": 10}}
    (out / "train/run.json").write_text(json.dumps(record))
    for seed in range(8):
        (out / f"seed-{seed}/train").mkdir(parents=True)
        result = {"first_step": 0, "steps": 10, "accuracy": 0.88 + seed / 100}
        (out / f"seed-{seed}/train/run.json").write_text(json.dumps({**record, "result": result}))
    return out


def printed(runs, program, option):
    """What the program prints with the given option."""
    if program.endswith(" diff"):
        sides = report_of(runs, "slow", 4.0), report_of(runs, "fast", 1.0)
        return runs.call(*program.split(), *sides, *option.split()).stdout
    if program == "crosstalk campaign status":
        return runs.call(*program.split(), planned(runs), option).stdout
    program, _, command = program.partition(" ")
    if "--list" in option:
        return runs.call(program, *option.split()).stdout
    if program == "interference":
        words = {"so-far": [runs.run()], "checkpoints": [saves_of(runs, "saved"), "--mtbf", "24h"], "metrics": [], "explain": ["slowdown"], "summary": [reported(runs)],
                 "analyse": [runs.run(), "--draws", "199", "--out", runs.new()]}[command]
        return runs.call("interference", command, *words, *option.split()).stdout
    if program == "crosstalk":
        return runs.call(program, "doctor", option).stdout
    if program == "trace-os":
        return runs.call(program, "--sources", option).stdout
    if program == "noisegen":
        return runs.call(program, "cpu.spin", "200ms", "--cpus", "all", "--share", option).stdout
    if program == "ddl-train":
        return runs.call(program, *TRAINING, "--steps", 20, "--out", runs.new(), option).stdout
    return runs.call(program, runs.archive(), option).stdout


def written(runs, program, name):
    """The content of the file that the program writes."""
    out = runs.new()
    if program == "noisegen calibrate":
        return calibrated(runs).read_text()
    if program == "noisegen probe":
        runs.call(*probe(runs, "--blocks", 2, "--slot", "50ms", "--out", out))
        return (out / name).read_text()
    if program == "ddl-alter":
        record = runs.directory / f"{out.name}.json"
        runs.call("ddl-alter", stored_state(runs), "--out", out, "--record", record)
        return record.read_text()
    if program == "noisegen":
        runs.call(program, "cpu.spin", "200ms", "--cpus", "all", "--share", "--out", out)
        return sorted(out.glob(name.replace("HOST.RANK", "*")))[0].read_text()
    if program == "ddl-train":
        runs.call(program, *TRAINING, "--steps", 20, "--out", out)
        return (out / name).read_text()
    if program == "interference analyse":
        return (reported(runs) / name).read_text()
    if program == "interference diff":
        runs.call(*program.split(), report_of(runs, "slow", 4.0), report_of(runs, "fast", 1.0), "--out", out)
        return (out / "diff.json").read_text()
    if program == "crosstalk prune":
        return (runs.directory / "pruned/pruned.json").read_text()
    if program == "crosstalk run":
        out = runs.directory / "own"
    elif program == "interference exposure":
        runs.call("interference", "exposure", *runs.of(runs.run()), out)
    elif program == "interference observe":
        runs.call("interference", "observe", "--train", runs.steps("q1.csv", 10_000_000), "--noise", noise_log(runs, 0.0),
                  "--out", out)
    elif program == "interference compare":
        runs.call("interference", "compare", "--quiet", runs.steps("q1.csv", 10_000_000), runs.steps("q2.csv", 10_010_000),
                  "--noisy", runs.steps("n1.csv", 11_000_000), runs.steps("n2.csv", 11_020_000), "--out", out)
    else:
        runs.call(*program.split(), "synthetic[samples=100]", "--to", "shards", "--out", out)
    return (out / name.removeprefix("OUT/")).read_text()


def check_json(runs, program, text):
    for option, name, members in json_of(text):
        try:
            found = json.loads(printed(runs, program, option) if option else written(runs, program, name))
            missing = [member for member in members if member not in found]
        except (ValueError, OSError, IndexError) as error:
            wrong.append(f"{program}: {option or name}: {error}")
            continue
        if missing or not members:
            wrong.append(f"{program}: {option or name} lacks {', '.join(missing)}")


def main():
    promised = {program: (codes, text) for program, codes, text in rows()}
    here = {program for program in promised if (BIN / program.split()[0]).exists()}
    if not here:
        print("SKIPPED: no program was built")
        return 77
    enum = (ROOT / "base/error.hpp").read_text()
    known = set(map(int, re.findall(r"exit_\w+ = (\d+)", enum)))
    if (codes := {code for each, _ in promised.values() for code in each}) != known:
        wrong.append(f"the table has {codes}, base/error.hpp {known}")
    # Each program has a man page, and so has each of its commands.
    pages = {page.stem for page in (BIN.parent / "share/man/man1").glob("*.1")}
    pages |= {path.name for path in BIN.iterdir()}
    wrong.extend(f"{page} is not in the table" for page in sorted(pages - {name.replace(" ", "-") for name in promised}))
    tried = set()
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as directory, ThreadPoolExecutor(2) as pool:
        runs = Runs(directory)
        for program, code, action in scenarios(runs, pool):
            tried.add((program, code))
            if program not in here or (needs_training(program) and "ddl-train" not in here):
                continue
            outcome = action()
            status = outcome if isinstance(outcome, int) else outcome.returncode
            said = "" if isinstance(outcome, int) else outcome.stderr.strip()
            if status != code:
                wrong.append(f"{program} ended with {status}, not {code}: {said}")
            elif code not in (0, 3) and not isinstance(outcome, int) and program not in ("trace-record", "trace-os", "crosstalk-python") and not said:
                if (program, code) != ("ddl-data info", 1):  # it prints what it found on stdout
                    wrong.append(f"{program} ended with {code} without a word")
        for program in sorted(here):
            if "ddl-train" in here or not needs_training(program):
                check_json(runs, program, promised[program][1])
    for program, (codes, _) in promised.items():
        for code in codes ^ {code for name, code in tried if name == program}:
            wrong.append(f"{program}: exit code {code} is {'not tried' if code in codes else 'not in the table'}")
    if wrong:
        print("NOT TRUE: the table of exit codes and JSON is true", *wrong, sep="\n")
        return 1
    return 0


def needs_training(program):
    return program.startswith(("interference ", "trace-merge", "crosstalk run", "crosstalk prune"))


if __name__ == "__main__":
    sys.exit(main())
