#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The study of checkpoints is planned whole; its smallest cell is run, restarts from it too, and both are analysed.

    checkpoint_study_test.py     exit code 77: there is one core only, or no MPI
"""
import csv
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
SPECS = ROOT / "jobscripts/specs"
ENVIRONMENT = dict(os.environ, CROSSTALK_BIN=str(BIN), OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0")  # of MPI
NOISE = ["io.write", "io.fsync", "io.checkpoint", "io.smallfiles", "metadata.create"]
SMALL = "emulated[compute=20ms,gradients=1MiB]"


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
    form = "--checkpoint-every 300ms --checkpoint-keep 1 --checkpoint-format raw|hdf5 --checkpoint-by rank0"
    quick = {"models": SMALL, "ranks": 1, "duration": "2s", "noise": f"io.write[directory={scratch},size=16MiB]"}
    (scratch / "small.ini").write_text(smaller(SPECS / "checkpoint-study.ini", options=form, **quick), encoding="utf-8")
    assert len(planned(scratch, scratch / "small.ini", scratch / "small")) == 4
    run(scratch, "crosstalk", "campaign", "run", scratch / "small")
    for name in ("raw", "hdf5"):
        run(scratch, "ddl-train", "--transport", "self", "--model", SMALL, "--data", "synthetic", "--trace", "off",
            "--steps", 5, "--checkpoint-every", 5, "--checkpoint-format", name, "--out", scratch / "seeds" / name)
    again = smaller(SPECS / "checkpoint-restarts.ini", options="--resume seeds/raw|seeds/hdf5", **quick | {"repetitions": 1})
    (scratch / "restarts.ini").write_text(again, encoding="utf-8")
    assert len(planned(scratch, scratch / "restarts.ini", scratch / "restarts")) == 4
    run(scratch, "crosstalk", "campaign", "run", scratch / "restarts")
    run(scratch, "crosstalk", "campaign", "collect", scratch / "small")
    runs = [*(scratch / "small/runs").iterdir(), *(scratch / "restarts/runs").iterdir()]
    report = json.loads(run(scratch, "interference", "checkpoints", *runs, "--mtbf", "1h", "--format", "json"))
    cells = {(form, noise) for form in ("raw", "hdf5") for noise in ("quiet", "io.write")}
    groups = {(one["checkpoint_format"], one["noise"]): one for one in report["groups"]}
    restarts = {(one["checkpoint_format"], one["noise"]): one for one in report["restarts"]}
    assert set(restarts) == cells and cells <= set(groups), (set(groups), set(restarts))
    for cell in cells:
        assert groups[cell]["saves"] >= 2 and groups[cell]["ranks"] == 1 and groups[cell]["model"] == SMALL, groups[cell]
        assert groups[cell]["restart_by"] == "restarts", groups[cell]
        assert groups[cell]["restart_s"] == restarts[cell]["restart_s"] > 0, restarts[cell]


def main():
    if len(os.sched_getaffinity(0)) < 2:
        print("SKIPPED: noise needs a second core")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="checkpoint-study.") as name:
        scratch = pathlib.Path(name)
        whole_study(scratch)
        offered = json.loads(run(scratch, "ddl-train", "--list", "--json"))
        if "mpi" not in [one["name"] for one in offered["transports"]]:
            print("SKIPPED: no MPI")
            sys.exit(77)
        smallest_cell(scratch)
    print("the study of checkpoints is planned, and its smallest cell is run and analysed")


main()
