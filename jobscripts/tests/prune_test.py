#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""crosstalk prune removes what the report of a finished run does not need, and nothing from other runs; afterwards the
analysis of the run has the same numbers."""
import csv
import fcntl
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from tried_runs import BIN, Runs

if not all((BIN / name).exists() for name in ("crosstalk", "ddl-train", "noisegen", "interference")):
    print("skipped: not all programs were built")
    sys.exit(77)
os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # leaks of MPI's plug-ins
wrong = []


def check(sentence, holds, said=""):
    if not holds:
        wrong.append(f"not true: {sentence} {said}")


def prune(runs, *words, code=0):
    done = runs.call("crosstalk", "prune", *words)
    check(f"prune {words} ends with {code}", done.returncode == code, f"{done.returncode} {done.stderr}")
    if code:
        check("it says why in one line", done.stderr.count("\n") == 1, done.stderr)
    return done.stdout


def files(run):
    return {str(path.relative_to(run)): path.read_bytes() for path in sorted(run.rglob("*")) if path.is_file()}


def effects(runs, run):
    """The result of a second analysis: the effects on the step and its phases."""
    out = runs.new("again")
    done = runs.call("interference", "analyse", run, "--out", out, "--draws", 199)
    check("a pruned run is analysed", done.returncode in (0, 3) and out.exists(), done.stderr)
    with open(out / "effects.csv") as table:
        return [row for row in csv.DictReader(table) if row["rank"] == "all"], json.loads((out / "verdict.json").read_text())


def finished(runs, name="run"):
    def make(path):
        shutil.copytree(runs.run(), path)
        runs.call("interference", "analyse", path, "--draws", 199)
        (path / "log").mkdir()
        (path / "log/job.log").write_text("printed\n")
        (path / "log/lock").write_text("")

    return runs.made(name, make)


def copy_of(runs, run):
    copy = runs.new("copy")
    shutil.copytree(run, copy, symlinks=True)
    return copy


def removes(runs):
    run = copy_of(runs, finished(runs, "finished"))
    before = files(run)
    first, judged = effects(runs, run)
    said = prune(runs, "--dry-run", run)
    check("a dry run says what would go", "train/trace" in said and "train/data" in said and "would go" in said, said)
    check("and takes nothing", files(run) == before)
    said = prune(runs, run)
    after = files(run)
    gone = {path.split("/")[0] + "/" + path.split("/")[1] for path in before.keys() - after.keys()}
    check("traces, data and logs are gone, and nothing else", gone == {"train/trace", "train/data", "log/job.log"}, str(gone))
    check("what stays is as it was", all(before[path] == after[path] for path in after if path != "pruned.json"))
    record = json.loads(after["pruned.json"])
    lost = sum(len(before[path]) for path in before.keys() - after.keys())
    check("the record has the bytes that went", record["bytes"] == lost, f"{record['bytes']} {lost}")
    check("and what they were", record["removed"] == ["train/trace", "train/data", "log"], str(record))
    again, verdict = effects(runs, run)
    check("the effects are the same to the last digit", again == first, f"{first} {again}")
    check("and so are the verdicts", verdict["trustworthy"] == judged["trustworthy"] and all(
        factor["verdict"] == judged["factors"][name]["verdict"] for name, factor in verdict["factors"].items()))
    check("the new report says that the archive was pruned", any("was pruned at" in note for note in verdict["notes"]))
    check("a second time there is nothing left", "nothing to remove" in prune(runs, run))
    check("and the record stays", files(run) == after)
    (run / "train/steps.csv").unlink()
    done = runs.call("interference", "analyse", run, "--out", runs.new())
    check("without its steps it says that it was pruned", done.returncode == 1 and "was pruned at 2" in done.stderr, done.stderr)


def makes_a_table(runs):
    """Prunes a run whose steps are only in its archive, as those of an MPI program are."""
    run = copy_of(runs, finished(runs, "finished"))
    (run / "train/steps.csv").unlink()
    (run / "request.json").write_text(json.dumps({"reading": {"step_region": "step"}}))
    first, _ = effects(runs, run)
    prune(runs, run)
    check("the archive is gone, and a table is there",
          not (run / "train/trace").exists() and (run / "train/steps.csv").exists())
    again, _ = effects(runs, run)
    same = lambda rows: [row["effect_percent"] for row in rows if row["phase"] == "step"]
    check("the effects are those of the archive", same(first) == same(again) and same(first))
    broken = copy_of(runs, finished(runs, "finished"))
    (broken / "train/steps.csv").unlink()
    (broken / "request.json").write_text(json.dumps({"reading": {"step_region": "no such region"}}))
    before = files(broken)
    prune(runs, broken, code=1)
    check("a run of which no table can be made stays as it is", files(broken) == before)


def leaves_alone(runs):
    def left(sentence, change, words):
        run = copy_of(runs, finished(runs, "finished"))
        change(run)
        before = files(run)
        said = prune(runs, run)
        check(f"{sentence} is left alone", words in said and files(run) == before, said)

    noise = lambda run: next((run / "noise").glob("*/noise.json"))
    def without(file, member):
        record = json.loads(file.read_text())
        record.pop(member)
        file.write_text(json.dumps(record))

    left("a run without a report", lambda run: shutil.rmtree(run / "report"), "has no report")
    left("noise that still runs", lambda run: without(noise(run), "end_ns"), "its noise has not ended")
    left("noise whose record is cut off", lambda run: noise(run).write_text("{"), "its noise has not ended")
    left("a training that still runs", lambda run: without(run / "train/run.json", "result"), "its training has not ended")
    left("a training whose record is none", lambda run: (run / "train/run.json").write_text("[]"), "record of its training")

    run = copy_of(runs, finished(runs, "finished"))
    before = files(run)
    with open(run / "log/lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        check("a run that is being written is left alone", "a run writes into it" in prune(runs, run))
    check("as it was", files(run) == before)
    check("a young run is left alone",
          "its report is younger than --older-than" in prune(runs, "--older-than", "30d", run))
    old = time.time() - 31 * 86400
    os.utime(run / "report/verdict.json", (old, old))
    check("an old one is not", "removed" in prune(runs, "--older-than", "30d", run) and not (run / "train/trace").exists())

    linked = copy_of(runs, finished(runs, "finished"))
    elsewhere = runs.new("elsewhere")
    shutil.move(linked / "train/trace", elsewhere)
    (linked / "train/trace").symlink_to(elsewhere)
    shutil.rmtree(linked / "train/data")
    outside = runs.new("outside")
    outside.mkdir()
    (outside / "mine").write_text("mine")
    (linked / "train/data").symlink_to(outside)
    (linked / "log/outside").symlink_to(outside)
    prune(runs, linked)
    check("what a link leads to stays", (elsewhere / "traces.otf2").exists() and (outside / "mine").exists())
    check("and so does the link", (linked / "train/trace").is_symlink() and (linked / "log/outside").is_symlink())

    prune(runs, runs.new("none"), code=2)
    (empty := runs.new("empty")).mkdir()
    (empty / "train/trace").mkdir(parents=True)
    (empty / "train/trace/mine").write_text("mine")
    prune(runs, empty, code=2)
    check("a directory of somebody's own stays", (empty / "train/trace/mine").exists())
    prune(runs, code=2)
    for age in ("30", "-1d", "x", "1e9d", "d"):
        prune(runs, "--older-than", age, run, code=2)
    if os.geteuid() == 0:
        foreign = copy_of(runs, finished(runs, "finished"))
        os.chown(foreign, 1234, 1234)
        prune(runs, foreign, code=2)
        check("a run of another user stays", (foreign / "train/trace").exists())


def survives_a_kill(runs):
    draw = random.Random(5)
    whole = 0
    truth, _ = effects(runs, finished(runs, "finished"))
    for _ in range(6):
        run = copy_of(runs, finished(runs, "finished"))
        for number in range(2000):
            (run / "train/data" / f"part-{number}").write_bytes(b"x" * 512)
        with subprocess.Popen([BIN / "crosstalk", "prune", run], stdout=subprocess.DEVNULL) as program:
            time.sleep(0.15 * draw.random())
            program.send_signal(signal.SIGKILL)
        whole += (run / "train/trace").exists()
        effects_now, _ = effects(runs, run)
        check("a run whose pruning was killed has its effects", effects_now == truth)
        prune(runs, run)
        check("the next prune removes the rest", not list(run.rglob("*.pruned")) and not (run / "train/data").exists())
    # The state after a kill between the rename and the end.
    run = copy_of(runs, finished(runs, "finished"))
    (run / "train/trace").rename(run / "train/trace.pruned")
    next((run / "train/trace.pruned").rglob("*.evt")).unlink()
    check("a half removed trace is named", "train/trace.pruned" in prune(runs, run))
    check("and gone", not (run / "train/trace.pruned").exists())


def sets_and_parts(runs):
    pair = runs.new("set")
    pair.mkdir()
    for number in (1, 2):
        shutil.copytree(finished(runs, "finished"), pair / f"run-{number}")
    shutil.copytree(finished(runs, "finished"), pair / "run-1/part-2")
    shutil.rmtree(pair / "run-1/part-2/report")
    prune(runs, pair)
    check("all runs of a set and their parts are pruned",
          len(list(pair.rglob("pruned.json"))) == 3 and not list(pair.rglob("train/trace")))


with tempfile.TemporaryDirectory() as folder:
    tried = Runs(folder)
    for part in (removes, makes_a_table, leaves_alone, survives_a_kill, sets_and_parts):
        part(tried)
print("\n".join(wrong) or "all is as it should be")
sys.exit(1 if wrong else 0)
