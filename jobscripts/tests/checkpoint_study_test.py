#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The study of checkpoints is planned whole; its smallest cell is run, restarts from it too, and both are analysed.

    checkpoint_study_test.py FORMAT..|--pace     exit code 77: there is one core only, or no MPI

--pace: checkpoints that may cost 3 % of the time do so over 500 steps, also when io.write begins half-way.
"""
import csv
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
SPECS = ROOT / "jobscripts/specs"
ENVIRONMENT = dict(os.environ, CROSSTALK_BIN=str(BIN), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0")  # of MPI
NOISE = ["io.write", "io.fsync", "io.checkpoint", "io.smallfiles", "metadata.create"]
SMALL = "emulated[compute=20ms,gradients=1MiB]"
FORMATS = sys.argv[1:]


def run(scratch, *words):
    done = subprocess.run([BIN / words[0], *map(str, words[1:])], capture_output=True, text=True, timeout=280,
                          check=False, cwd=scratch, env=ENVIRONMENT)
    assert done.returncode == 0, f"{words}: {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def planned(scratch, spec, out):
    run(scratch, "crosstalk", "campaign", "plan", spec, "-o", out)
    with open(out / "plan.csv", newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def smaller(spec, **values):
    """The spec with these values in place of its own."""
    lines = [line for line in spec.read_text(encoding="utf-8").splitlines() if line.split(" ")[0] not in values]
    return "\n".join(lines + [f"{name.replace('_', '-')} = {value}" for name, value in values.items()]) + "\n"


def whole_study(scratch):
    rows = planned(scratch, SPECS / "checkpoint-study.ini", scratch / "whole")
    cells = [(row["model"], row["ranks"], row["options"], row["noise"]) for row in rows]
    options = [f"--checkpoint-format {form} --checkpoint-by {by} --checkpoint-mode {mode}" for form, by, mode in
               itertools.product(("hdf5", "raw", "torch"), ("rank0", "sharded", "all"), ("sync", "async"))]
    expected = set(itertools.product({row["model"] for row in rows}, ("1", "2"), options, ["none", *NOISE]))
    assert len({row["model"] for row in rows}) == 2 and set(cells) == expected and len(cells) == len(expected), len(cells)


def smallest_cell(scratch):
    form = f"--checkpoint-every 300ms --checkpoint-keep 1 --checkpoint-format {'|'.join(FORMATS)} --checkpoint-by rank0"
    quick = {"models": SMALL, "ranks": 1, "duration": "2s", "noise": f"io.write[directory={scratch},size=16MiB]"}
    (scratch / "small.ini").write_text(smaller(SPECS / "checkpoint-study.ini", options=form, **quick), encoding="utf-8")
    assert len(planned(scratch, scratch / "small.ini", scratch / "small")) == 2 * len(FORMATS)
    run(scratch, "crosstalk", "campaign", "run", scratch / "small")
    for name in FORMATS:
        run(scratch, "ddl-train", "--transport", "self", "--model", SMALL, "--data", "synthetic", "--trace", "off",
            "--steps", 5, "--checkpoint-every", 5, "--checkpoint-format", name, "--out", scratch / "seeds" / name)
    seeds = "|".join(f"seeds/{name}" for name in FORMATS)
    again = smaller(SPECS / "checkpoint-restarts.ini", options=f"--resume {seeds}", **quick | {"repetitions": 1})
    (scratch / "restarts.ini").write_text(again, encoding="utf-8")
    assert len(planned(scratch, scratch / "restarts.ini", scratch / "restarts")) == 2 * len(FORMATS)
    run(scratch, "crosstalk", "campaign", "run", scratch / "restarts")
    run(scratch, "crosstalk", "campaign", "collect", scratch / "small")
    runs = [*(scratch / "small/runs").iterdir(), *(scratch / "restarts/runs").iterdir()]
    report = json.loads(run(scratch, "interference", "checkpoints", *runs, "--mtbf", "1h", "--format", "json"))
    cells = {(form, noise) for form in FORMATS for noise in ("quiet", "io.write")}
    groups = {(one["checkpoint_format"], one["noise"]): one for one in report["groups"]}
    restarts = {(one["checkpoint_format"], one["noise"]): one for one in report["restarts"]}
    assert set(restarts) == cells and cells <= set(groups), (set(groups), set(restarts))
    for cell in cells:
        assert groups[cell]["saves"] >= 2 and groups[cell]["ranks"] == 1 and groups[cell]["model"] == SMALL, groups[cell]
        assert groups[cell]["restart_by"] == "restarts", groups[cell]
        assert groups[cell]["restart_s"] == restarts[cell]["restart_s"] > 0, restarts[cell]


def holds_its_share(scratch):
    cpus = sorted(os.sched_getaffinity(0))
    training = [BIN / "ddl-train", "--transport", "self", "--cpus", str(cpus[0]), "--data", "synthetic[samples=160]",
                "--model", "emulated[compute=60ms,gradients=4MB]", "--trace", "off", "--steps", "500",
                "--checkpoint-every", "auto:3%", "--out", scratch / "run"]
    noise = [BIN / "noisegen", f"io.write[directory={scratch}] 120s", "--cpus", str(cpus[-1])]
    quiet = {"env": ENVIRONMENT, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(training, **quiet) as trained:
        time.sleep(15)
        begin_ns = time.monotonic_ns()
        with subprocess.Popen(noise, **quiet) as writes:
            assert trained.wait(timeout=200) == 0 and writes.poll() is None, (trained.returncode, writes.returncode)
            writes.terminate()
    with open(scratch / "run/train/steps.csv", newline="", encoding="utf-8") as table:
        rows = [{name: int(row[name]) for name in ("begin_ns", "end_ns", "checkpoint_ns")} for row in csv.DictReader(table)]
    before = sum(row["end_ns"] < begin_ns for row in rows)
    assert len(rows) == 500 and 150 < before < 350, (len(rows), before)
    all_ns = sum(row["end_ns"] - row["begin_ns"] for row in rows)
    stalls = [row["checkpoint_ns"] for row in rows if row["checkpoint_ns"] > 0]
    share = 100 * sum(stalls) / all_ns
    print(f"{len(stalls)} checkpoints took {share:.2f} %, {before} steps before io.write; the last {stalls[-1] / 1e6:.0f} ms")
    assert share >= 2.5, share
    # A last one that the disk holds up cannot be made up for.
    assert share <= 3.5 or 100 * sum(stalls[:-1]) / all_ns <= 3, stalls


def main():
    if len(os.sched_getaffinity(0)) < 2:
        print("SKIPPED: noise needs a second core")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="checkpoint-study.") as name:
        scratch = pathlib.Path(name)
        if FORMATS == ["--pace"]:
            holds_its_share(scratch)
            return
        whole_study(scratch)
        offered = json.loads(run(scratch, "ddl-train", "--list", "--json"))
        if "mpi" not in [one["name"] for one in offered["transports"]]:
            print("SKIPPED: no MPI")
            sys.exit(77)
        smallest_cell(scratch)
    print("the study of checkpoints is planned, and its smallest cell is run and analysed")


main()
