#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A known delay in one phase of one rank is found, by `interference compare` and by `interference exposure`: the rank, the
phase, who waits, and how much, against what the training itself recorded of its delays.

    delays_test.py backward|load|wait_exchange|checkpoint|mpi4py [STRATEGY]

Programs in CROSSTALK_BIN; exit code 77: skipped.
"""
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["CROSSTALK_BIN"])
TRAINING = ["--model", "emulated[compute=20ms,gradients=64KiB]", "--data", "synthetic[samples=64]"]
DELAY_MS = 25
PERIOD, ON = 20, 10  # steps
wrong = []


def check(sentence, holds, found):
    if not holds:
        wrong.append(f"{sentence}: {found}")


def call(*words):
    # MPI unloads its plug-ins before a program ends: their leaks have no name that a suppression could match.
    environment = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:malloc_context_size=0")
    if BIN / "trace-record" in words and os.environ.get("CROSSTALK_PRELOAD_FIRST"):
        environment["LD_PRELOAD"] = os.environ["CROSSTALK_PRELOAD_FIRST"]  # a sanitizer's library must be the first
    outcome = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=240, env=environment)
    if outcome.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))} ended with {outcome.returncode}: {outcome.stderr}")
    return outcome.stdout


def rows(file):
    with file.open() as table:
        return list(csv.DictReader(table))


def mpirun(*words):
    return call("mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", *words)


def train(out, steps, delay=None):
    """The mean delay of a step, in ms, as the delayed rank recorded it."""
    checkpoints = ["--checkpoint-every", "1", "--checkpoint-keep", "1"] if phase == "checkpoint" else []
    mpirun(BIN / "ddl-train", *TRAINING, "--strategy", strategy, "--steps", steps, "--out", out, *checkpoints,
           *(["--delay", f"{late_rank}:{phase}:{delay}"] if delay else []))
    record = json.loads((out / "train/run.json").read_text())
    return record["result"]["each_rank"][late_rank]["injected_delays"]["ns"] / 1e6 / steps


def mpi_loop(out, steps, period, on):
    """The mean delay of a step in a loop that does not use Crosstalk; rank 0 prints begin and end of each span of
    delayed steps."""
    program = folder / "loop.py"
    program.write_text(
        "import sys, time\n"
        "from mpi4py import MPI\n"
        "steps, period, on = map(int, sys.argv[1:])\n"
        "spans, begin, late = [], None, 0.0\n"
        "for step in range(steps):\n"
        "    delayed = step % period < on\n"
        "    now = time.monotonic()\n"
        "    if delayed and begin is None: begin = now\n"
        "    if not delayed and begin is not None: spans.append((begin, now)); begin = None\n"
        "    time.sleep(0.02)\n"
        f"    if delayed and MPI.COMM_WORLD.rank == 1: time.sleep({DELAY_MS / 1000})\n"
        "    late += time.monotonic() - now - 0.02 if delayed else 0.0\n"
        "    MPI.COMM_WORLD.Barrier()\n"
        "if begin is not None: spans.append((begin, time.monotonic()))\n"
        "late = MPI.COMM_WORLD.bcast(late, root=1)\n"
        "if MPI.COMM_WORLD.rank == 0:\n"
        "    for span in spans: print(*span)\n"
        "    print('late', 1000 * late / steps)\n")
    said = mpirun(BIN / "trace-record", "-o", out, "--", "/usr/bin/python3", program, steps, period, on).splitlines()
    spans = [tuple(map(float, line.split())) for line in said if not line.startswith("late")]
    return float([line for line in said if line.startswith("late")][0].split()[1]), spans


def spans_of(out):
    """From the first begin to the last end, on any rank, of the delayed steps of each PERIOD."""
    spans = {}
    for row in rows(out / "train/steps.csv"):
        step = int(row["step"])
        if step % PERIOD >= ON:
            continue
        begin, end = spans.get(step // PERIOD, (float("inf"), 0.0))
        spans[step // PERIOD] = min(begin, int(row["begin_ns"]) / 1e9), max(end, int(row["end_ns"]) / 1e9)
    return list(spans.values())


def check_report(report, how, expected_percent):
    cause = rows(report / "causes.csv")[0]
    check(f"{how}: rank {late_rank} is named", cause["critical_rank"] == str(late_rank), cause)
    check(f"{how}: the place is {place}", cause["region"] == place, cause)
    check(f"{how}: the other rank waits for it", cause["waiting_rank"] == str(1 - late_rank), cause)
    check(f"{how}: it is no network", cause["resource"] != "network", cause)
    if phase in ("load", "checkpoint"):
        check(f"{how}: it is I/O", cause["resource"] == "I/O", cause)
    for column in ("effect_percent", "region_percent"):
        check(f"{how}: {column} is {expected_percent:.1f} within 15 %",
              abs(float(cause[column]) - expected_percent) < 0.15 * expected_percent, cause)
    parts = sum(float(row["effect_percent"]) for row in rows(report / "decomposition.csv"))
    check(f"{how}: the parts add up", abs(parts - float(cause["effect_percent"])) < 0.01 * expected_percent, parts)
    left = [float(row["effect_percent"]) for row in rows(report / "decomposition.csv") if row["part"] == "unexplained"]
    check(f"{how}: little is unexplained", abs(left[0]) < 0.15 * expected_percent, left)


def compared():
    quiet, noisy, delays = [], [], []
    for run in range(3):
        quiet.append(folder / f"quiet{run}")
        noisy.append(folder / f"noisy{run}")
        if phase == "mpi4py":
            mpi_loop(quiet[-1], 60, 60, 0)
            delays.append(mpi_loop(noisy[-1], 60, 60, 60)[0])
        else:
            train(quiet[-1], 60)
            delays.append(train(noisy[-1], 60, f"{DELAY_MS}ms"))
    report = folder / "comparison"
    print(call(BIN / "interference", "compare", "--quiet", *quiet, "--noisy", *noisy, "--out", report))
    quiet_ms = float(rows(report / "compare.csv")[0]["quiet_ms"])
    check_report(report, "compare", 100 * sum(delays) / len(delays) / quiet_ms)


def exposed():
    run = folder / "observed"
    if phase == "mpi4py":
        delay, spans = mpi_loop(run, 200, PERIOD, ON)
        archive = run / "traces.otf2"
    else:
        delay, spans = train(run, 200, f"{DELAY_MS}ms:every={PERIOD}:for={ON}"), None
        spans = spans_of(run)
        archive = run / "train/trace/traces.otf2"
    with (folder / "log.csv").open("w") as log:
        log.write("begin_s,end_s,host,what,level\n")
        log.writelines(f"{begin:.9f},{end:.9f},,late,\n" for begin, end in spans)
    report = folder / "exposure"
    print(call(BIN / "interference", "exposure", "--train", archive, "--noise", folder / "log.csv", "--guard", "60ms",
               "--out", report))
    verdict = json.loads((report / "verdict.json").read_text())
    check("exposure: it is labelled", verdict["observed"] and not verdict["trustworthy"], verdict)
    factor = verdict["factors"]["late"]
    check("exposure: no verdict", factor["verdict"] == "observed", factor["verdict"])
    check("exposure: the phase is named", factor["phase"] == place, factor["cause"])
    check_report(report, "exposure", 100 * delay * PERIOD / ON / verdict["quiet_step_ms"])


phase = sys.argv[1]
strategy = sys.argv[2] if len(sys.argv) > 2 else "ddp"
# Rank 0 writes checkpoints: they would absorb part of a delay of rank 1.
late_rank = 0 if phase == "checkpoint" else 1
place = "before MPI_Barrier" if phase == "mpi4py" else phase
needed = ["interference"] + (["trace-record"] if phase == "mpi4py" else ["ddl-train"])
if not shutil.which("mpirun") or not all((BIN / program).exists() for program in needed):
    print("SKIPPED: no mpirun, or not built:", *needed)
    sys.exit(77)
if phase == "mpi4py" and subprocess.run(["/usr/bin/python3", "-c", "import mpi4py"], capture_output=True).returncode:
    print("SKIPPED: no mpi4py")
    sys.exit(77)
# In memory: on a disk the time of a checkpoint changes from run to run by more than the delay.
memory = "/dev/shm" if phase == "checkpoint" and os.access("/dev/shm", os.W_OK) else None
with tempfile.TemporaryDirectory(prefix="crosstalk-delays.", dir=memory) as scratch:
    folder = pathlib.Path(scratch)
    compared()
    exposed()
print("\n".join(wrong) or "found as it was")
sys.exit(1 if wrong else 0)
