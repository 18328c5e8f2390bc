#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a report name the cause that was injected?

    injections.py [--runs N] [--seed SEED] [--kinds KIND,..] [--csv FILE.csv] [--keep DIR]
    injections.py --table FILE.csv     only prints the results in such a file

In each run trace-os observes a job on one CPU (victim.py) with disturbances (disturbances.py) in slots. The seed determines
kinds, strengths and order of the disturbances, the length of slots, and the job's threads. Disturbances have neutral names;
truth.json holds their kinds, and is read only when the reports are scored. Needs root, two CPUs and python3-otf2.
CROSSTALK_BIN names the folder of the programs. Exit code 1 if fewer than 95 % of the causes are right, or if a cause is
named for more than 1 % of the placebos."""
import argparse
import collections
import contextlib
import csv
import json
import math
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
sys.path.insert(0, str(ROOT / "analysis/tests"))
import disturbances
import seal_runs
import victim

MS = 1_000_000
SENTENCES = {"another job runs": "neighbour", "other threads of the same job": "own_thread",
             "threads of the kernel": "kernel_thread", "Soft interrupts": "softirq", "Interrupts take": "interrupt",
             "own CPU quota": "throttled", "wait for a disk": "block_io", "pages that come from a disk": "major_faults",
             "look for free memory": "reclaim", "hypervisor takes": "steal", "wait for a CPU (": "runqueue_wait",
             "No slowdown": "no slowdown", "Unknown:": "may be chance"}
UNNAMED = {"none", "no slowdown", "may be chance"}
KINDS = {  # the function that makes the disturbance, and the cause that a report should name
    "foreign process": (disturbances.foreign_process, "neighbour"),
    "own surplus threads": (None, "own_thread"),
    "kernel thread": (disturbances.kernel_thread, "kernel_thread"),
    "soft interrupts": (disturbances.soft_interrupts, "softirq"),
    "throttled": (disturbances.throttled, "throttled"),
    "cold reads": (disturbances.cold_reads, "block_io"),
    "disk competition": (disturbances.disk_competition, "block_io"),
    "major faults": (disturbances.major_faults, "major_faults"),
    "memory bandwidth": (disturbances.memory_bandwidth, None),
    "cache": (disturbances.cache, None),
    "nothing": (None, None),
}


def draw(chance, kinds, seconds):
    """Draws a run: the kind and strength of each name, and the slots [(block, position, name or None)]."""
    chosen = chance.sample(kinds, min(len(kinds), chance.randint(7, 8))) + ["nothing"]
    chance.shuffle(chosen)
    truth = {f"n{number}": {"kind": kind, "strength": chance.random()} for number, kind in enumerate(chosen, 1)}
    slot_ms = chance.uniform(50, 100)
    cell = [*truth, "placebo"] + [None] * math.ceil(math.sqrt(len(truth) + 1))
    blocks = max(10, round(seconds * 1000 / slot_ms / len(cell)))
    slots = []
    for block in range(blocks):
        chance.shuffle(cell)
        slots += [(block, place, name) for place, name in enumerate(cell)]
    return truth, slots, slot_ms


def surplus(chance, strength, times):
    return {"count": chance.randint(1, 3), "as": chance.choice(("threads", "processes")), "times": times,
            "on_ms": chance.uniform(3, 15), "off_ms": disturbances.between(strength, 10, 0.2)}


@contextlib.contextmanager
def control_groups(period_us):
    """Two control groups (controller cpu) without a quota, for the job and for others, with ten times the weight of all other
    programs on the machine."""
    top = pathlib.Path("/sys/fs/cgroup/cpu")
    top = top if top.is_dir() else pathlib.Path("/sys/fs/cgroup")
    groups = [top / f"crosstalk-injections-{os.getpid()}-{name}" for name in ("job", "others")]
    try:
        for group in groups:
            group.mkdir()
            weight = group / "cpu.weight"
            (weight if weight.exists() else group / "cpu.shares").write_text("1000" if weight.exists() else "10240")
            if (group / "cpu.cfs_period_us").exists():
                (group / "cpu.cfs_period_us").write_text(str(period_us))
        yield groups
    finally:
        for group in groups:
            group.rmdir()


def prepared_file(folder):
    file = folder / "file"
    file.write_bytes(os.urandom(victim.COLD))
    with open(file, "rb") as written:
        os.fsync(written.fileno())
    return file


def child(make, place, strength, times, seed, group):
    def run():
        (group / "cgroup.procs").write_text(str(os.getpid()))
        os.sched_setaffinity(0, {place.other})
        random.seed(seed)
        make(place, strength, times)

    process = multiprocessing.Process(target=run)
    process.start()
    return process


def one_run(chance, run, truth, slots, slot_ms, cpus):
    """Makes a run in the directory, and writes the truth next to the directory."""
    run.mkdir(parents=True)
    file = prepared_file(run)
    start_ns = time.monotonic_ns() + 2_500 * MS
    at = [start_ns + round(number * slot_ms * MS) for number in range(len(slots) + 1)]
    times = {name: [(at[i], at[i + 1]) for i, (_, _, on) in enumerate(slots) if on == name] for name in truth}
    extra = surplus(chance, 0, [])
    for name, what in truth.items():
        if what["kind"] == "own surplus threads":
            extra = surplus(chance, what["strength"], times[name])
    (run / "surplus.json").write_text(json.dumps(extra))
    threads = chance.randint(1, 2)
    (run.parent / f"{run.name}.truth.json").write_text(
        json.dumps({"factors": truth, "slot_ms": slot_ms, "threads": threads, "slots": len(slots)}))
    period_us = chance.choice((10_000, 20_000, 50_000))
    with control_groups(period_us) as (group, others_group):
        place = disturbances.Place(cpus[1], cpus[0], str(file), victim.COLD, group, period_us)
        job = subprocess.Popen([sys.executable, pathlib.Path(victim.__file__), run, file, str(cpus[1]), str(threads),
                                run / "surplus.json"])
        try:
            (group / "cgroup.procs").write_text(str(job.pid))
            others = {what["kind"]: child(KINDS[what["kind"]][0], place, what["strength"], times[name], chance.random(),
                                          others_group)
                      for name, what in truth.items() if KINDS[what["kind"]][0]}
            watcher = subprocess.Popen([BIN / "trace-os", "--pid", str(job.pid), "--out", run, "--cpus", str(cpus[0])],
                                       stdout=subprocess.DEVNULL)
            (others_group / "cgroup.procs").write_text(str(watcher.pid))
            for other in others.values():
                other.join()
            disturbances.sleep_until(at[-1] + 100 * MS)
        finally:
            job.send_signal(signal.SIGTERM)
            job.wait()
        watcher.wait()
    file.unlink()
    failed = [kind for kind, other in others.items() if other.exitcode != 0]
    roles = {**dict.fromkeys(truth, "treatment"), "placebo": "placebo"}
    (run / "noise" / "node.0").mkdir(parents=True)
    seal_runs.write_noise(run / "noise" / "node.0" / "trace", seal_runs.with_roles(slots, roles),
                          (start_ns - seal_runs.ORIGIN) / MS, slot_ms, factors=roles)
    return failed or watcher.returncode


def named(sentence):
    return next((cause for words, cause in SENTENCES.items() if words in sentence), "none")


def scored(run, number, seed):
    """A row for each injection: its kind and strength, and the cause that the report names."""
    rest = does_not_add_up(run)
    truth = json.loads((run.parent / f"{run.name}.truth.json").read_text())
    verdict = json.loads((run / "report" / "verdict.json").read_text())
    for name, what in truth["factors"].items():
        factor = verdict["factors"][name]
        yield {"seed": seed, "run": number, "name": name, "kind": what["kind"], "strength": round(what["strength"], 3),
               "threads": truth["threads"], "slot_ms": round(truth["slot_ms"], 1),
               "effect_percent": round(factor["effect_percent"], 3), "low_percent": round(factor["low_percent"], 3),
               "named": named(factor["cause"]), "does_not_add_up_percent": rest, "load": os.getloadavg()[0]}


def does_not_add_up(run):
    """The largest difference between a slowdown and the sum of its parts, percent of the quiet step."""
    with open(run / "report" / "effects.csv") as table:
        rest = {row["factor"]: float(row["effect_percent"]) for row in csv.DictReader(table)
                if row["phase"] == "step" and row["rank"] == "all"}
    with open(run / "report" / "evidence.csv") as table:
        for row in csv.DictReader(table):
            rest[row["factor"]] -= float(row["effect_percent"])
    return max(map(abs, rest.values()))


def is_right(row):
    expected = KINDS[row["kind"]][1]
    return row["named"] == expected if expected else row["named"] in UNNAMED


def confusion(rows):
    table = collections.defaultdict(collections.Counter)
    for row in rows:
        table[row["kind"]][row["named"]] += 1
    columns = sorted({row["named"] for row in rows}, key=lambda named: (named in UNNAMED, named))
    yield "| injected | " + " | ".join(columns) + " | right | of the significant |"
    yield "|---|" + "---|" * (len(columns) + 2)
    for kind in KINDS:
        if kind not in table:
            continue
        of_kind = [row for row in rows if row["kind"] == kind]
        found = [row for row in of_kind if row["named"] not in ("no slowdown", "may be chance")]
        yield (f"| {kind} | " + " | ".join(str(table[kind][c] or "") for c in columns) +
               f" | {share(of_kind)} | {share(found)} |")
    yield f"\nwith a source: {share([r for r in rows if KINDS[r['kind']][1]])}; without: " + share(
        [r for r in rows if not KINDS[r["kind"]][1]])


def share(rows):
    right = sum(map(is_right, rows))
    return f"{right} of {len(rows)}, {100 * right / len(rows):.1f} %" if rows else ""


def right_enough(rows):
    made = [is_right(row) for row in rows if KINDS[row["kind"]][1]]
    placebo = [is_right(row) for row in rows if row["kind"] == "nothing"]
    return sum(made) >= 0.95 * len(made) and sum(placebo) >= 0.99 * len(placebo)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--kinds", default=",".join(kind for kind in KINDS if kind != "nothing"))
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--keep", type=pathlib.Path)
    asked = parser.parse_args()
    if asked.table:
        print(*confusion(list(csv.DictReader(asked.table.open()))), sep="\n")
        return
    if os.geteuid() != 0:
        print("skipped: needs root", file=sys.stderr)
        sys.exit(77)
    cpus = sorted(os.sched_getaffinity(0))
    rows = []
    with tempfile.TemporaryDirectory(prefix="crosstalk-injections.") as scratch:
        for number in range(asked.first, asked.first + asked.runs):
            chance = random.Random(f"{asked.seed} {number}")
            run = pathlib.Path(asked.keep or scratch) / f"run-{number}"
            failed = one_run(chance, run, *draw(chance, asked.kinds.split(","), asked.seconds), (cpus[0], cpus[-1]))
            done = subprocess.run(["nice", BIN / "interference", "exposure", "--train", run / "train/steps.csv", "--noise",
                                   run / "noise/node.0/trace/traces.otf2", "--out", run / "report"], capture_output=True, text=True)
            if failed or not (run / "report" / "evidence.csv").exists():
                print(f"run {number} failed: {failed} {done.stderr}", file=sys.stderr)
                continue
            fresh = list(scored(run, number, asked.seed))
            rows += fresh
            if asked.csv:
                write(asked.csv, fresh)
            for row in fresh:
                print(*row.values(), "" if is_right(row) else "WRONG", flush=True)
            if not asked.keep:
                shutil.rmtree(run)
    print(*confusion(rows), sep="\n")
    sys.exit(not right_enough(rows))


def write(file, rows):
    fresh = not file.exists()
    with open(file, "a", newline="") as table:
        writer = csv.DictWriter(table, rows[0].keys(), lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
