#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that need a known number of cores: how often does a report recommend the right number?

    cores_study.py INTERFERENCE [--runs N] [--jobs N] [SCENARIO..]

Each job computes with `need` threads on a node of 16 CPUs: with fewer cores a step takes need / cores as long, and
varies by 3 %. It is written as a run directory of job.cores (steps.csv, a noise archive by Python's otf2, noise.json)
and analysed by the real program. Right is the least measured number that is enough, or one more. Exit code 1 if that is
missed, or too few are recommended, in more than one of 20 (and what chance adds to so many runs)."""
import argparse
import collections
import json
import math
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
    import otf2
    from otf2.enums import LocationGroupType, LocationType, Type
    import _otf2
except ImportError as missing:  # Debian packages them for its own Python only
    print(f"skipped: {missing} (python3-numpy, python3-otf2)", file=sys.stderr)
    sys.exit(77)

MS = 1_000_000
ORIGIN = 5_000_000_000_000  # ns
CPUS = 16
STEP = 20.0  # ms, with all cores
LEVELS = (1, 2, 3, 4, 6, 8, 12, 16)
CONTROLS = {"placebo": "placebo", "control.delay": "delay", "control.sham": "sham"}

# Cores that the job needs, and the slowdown by a neighbour on all other cores in addition to that, in percent.
SCENARIOS = {
    "needs 2": {"need": 2, "neighbour": 0.0},
    "needs 3": {"need": 3, "neighbour": 0.0},
    "needs 6": {"need": 6, "neighbour": 0.0},
    "needs 6 beside a neighbour": {"need": 6, "neighbour": 0.3},
    "needs all": {"need": 16, "neighbour": 0.0},
    "needs 2 beside a neighbour that costs 5 %": {"need": 2, "neighbour": 5.0},
}
BUDGET = 1.0


def slowdown(scenario, keep):
    """Slowdown in percent; a neighbour costs most when one core is kept."""
    share = (CPUS - keep) / (CPUS - 1)
    return 100 * (max(1.0, scenario["need"] / keep) * (1 + scenario["neighbour"] / 100 * share) - 1)


def truth(scenario):
    """The smallest measured number such that there, and at all larger ones, the slowdown is within the budget."""
    return min(keep for keep in LEVELS if all(slowdown(scenario, more) < BUDGET for more in LEVELS if more >= keep))


def draw_slots(random, blocks):
    treatments = [*LEVELS, *CONTROLS]
    cell = treatments + [None] * math.ceil(math.sqrt(len(treatments)))
    return [(block, place, cell[i]) for block in range(blocks) for place, i in enumerate(random.permutation(len(cell)))]


def train(random, scenario, slots, slot_ms, start):
    """Rows of steps.csv in ms: begin, end, computing, control delay, control settle."""
    rows, now = [], 0.0
    while now < start + slot_ms * len(slots) - 2 * STEP * CPUS:
        place = math.floor((now - start) / slot_ms)
        on = slots[place][2] if 0 <= place < len(slots) else None
        # As in ddl-train: no control in a step that may not end within its slot.
        if now + 2 * STEP > start + (place + 1) * slot_ms:
            on = None
        delay = 1.0 if on == "control.delay" else 0.0
        settle = 0.8 if on in ("control.delay", "control.sham") else 0.0
        work = STEP * max(0.2, 1 + 0.03 * random.standard_normal())
        at = now + settle + delay
        while work > 0:  # work proceeds at the pace of each slot that the step spans
            place = math.floor((at - start) / slot_ms)
            inside = 0 <= place < len(slots)
            border = start if at < start else start + (place + 1) * slot_ms if inside else math.inf
            keep = slots[place][2] if inside else None
            pace = 1 + slowdown(scenario, keep) / 100 if isinstance(keep, int) else 1.0
            done = min(work, (border - at) / pace)
            work -= done
            at = at + done * pace if work <= 0 else border
        rows.append((now, at, at - now - settle - delay, delay, settle))
        now = at
    return rows


def write_noise(folder, slots, start, slot_ms):
    with otf2.writer.open(str(folder / "trace"), timer_resolution=10**9) as trace:
        for key, value in (("DESIGN", "rotation"), ("SCHEDULE", "rotation(simulated)"), ("SEED", "1"),
                           ("FACTORS", ",".join(["job.cores", *CONTROLS]))):
            _otf2.Archive_SetProperty(trace.handle, "CROSSTALK::" + key, value, True)
        define = trace.definitions
        machine = define.system_tree_node("machine", "machine")
        node = define.system_tree_node("node", "node", parent=machine)
        group = define.location_group("noise", location_group_type=LocationGroupType.PROCESS, system_tree_parent=node)
        schedule = define.location("schedule", type=LocationType.CPU_THREAD, group=group)
        thread = define.location("cpu 15", type=LocationType.CPU_THREAD, group=group)
        regions = {name: define.region(name) for name in ("quiet", "job.cores", *CONTROLS)}
        attributes = {name: define.attribute(name, type=kind)
                      for name, kind in (("block", Type.UINT64), ("position", Type.UINT64), ("level", Type.STRING),
                                         ("stressor", Type.STRING), ("role", Type.STRING))}
        planned = trace.event_writer_from_location(schedule)
        done = trace.event_writer_from_location(thread)
        for number, (block, place, on) in enumerate(slots):
            begin = ORIGIN + round((start + number * slot_ms) * MS)
            end = ORIGIN + round((start + (number + 1) * slot_ms) * MS)
            name = "job.cores" if isinstance(on, int) else on or "quiet"
            values = {attributes["block"]: block, attributes["position"]: place,
                      attributes["level"]: f"keep={on}" if isinstance(on, int) else "", attributes["stressor"]: name,
                      attributes["role"]: CONTROLS.get(on, "treatment") if on else ""}
            planned.enter(begin, regions[name], attributes=values)
            planned.leave(end, regions[name])
            if on:
                done.enter(begin, regions[name])
                done.leave(end, regions[name])
    levels = [{"factor": "job.cores", "level": f"keep={keep}", "stressor": "job.cores", "slots": 1, "cpus": CPUS,
               "on_s": 1.0, "assigned_s": 1.0, "bytes": 1e9 * (CPUS - keep), "operations": 0} for keep in LEVELS]
    stressors = [{"name": "job.cores", "options": {"keep": str(keep), "neighbour": "memory.stream"},
                  "how": f"confined 1 process (9 threads) to CPUs 0{f'-{keep - 1}' if keep > 1 else ''}",
                  "not_kept": ""} for keep in LEVELS]
    (folder / "noise.json").write_text(json.dumps(
        {"host": "node", "cpus": "0-15", "cpus_online": CPUS, "shared_on_purpose": True, "factor_levels": levels,
         "stressors": stressors}))


def write_run(run, random, scenario, blocks):
    slot_ms, start = 50 * STEP, 1000.0
    slots = draw_slots(random, blocks)
    (run / "train").mkdir(parents=True)
    (run / "noise" / "node.0").mkdir(parents=True)
    with open(run / "train" / "steps.csv", "w") as table:
        print("rank,step,begin_ns,end_ns,forward_ns,control_delay_ns,control_settle_ns", file=table)
        for step, (begin, end, *phases) in enumerate(train(random, scenario, slots, slot_ms, start)):
            print(0, step, ORIGIN + round(begin * MS), ORIGIN + round(end * MS),
                  *(max(0, math.floor(phase * MS) - 1) for phase in phases), sep=",", file=table)
    write_noise(run / "noise" / "node.0", slots, start, slot_ms)


def one(job):
    """The recommended number, or why there is none."""
    program, name, blocks, seed = job
    random = numpy.random.default_rng([seed, *name.encode()])
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch) / "run"
        write_run(run, random, SCENARIOS[name], blocks)
        done = subprocess.run([program, "analyse", run, "--draws", "0", "--budget", f"{BUDGET}%"], capture_output=True,
                              text=True)
        file = run / "report" / "cores.json"
        if not file.exists():
            return done.stderr or done.stdout
        found = json.loads(file.read_text())["cores"][0]
        return found["keep"] if found["keep"] is not None else found["answer"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("scenario", nargs="*")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--blocks", type=int, default=40)
    asked = parser.parse_intermixed_args()
    failed = []
    may_miss = asked.runs / 20 + 3 * math.sqrt(asked.runs * 0.05 * 0.95)
    with multiprocessing.Pool(asked.jobs) as pool:
        for name in asked.scenario or SCENARIOS:
            right = truth(SCENARIOS[name])
            got = pool.map(one, [(asked.program, name, asked.blocks, seed) for seed in range(1, asked.runs + 1)])
            numbers = [number for number in got if isinstance(number, int)]
            too_few = sum(number < right for number in numbers)
            hit = sum(number in (right, right + 1) for number in numbers)
            counts = ", ".join(f"{number}: {count}" for number, count in sorted(collections.Counter(numbers).items()))
            print(f"{name}: right {right}; recommended {counts or 'nothing'}; {len(got) - len(numbers)} without a "
                  f"number; right or one more in {hit} of {asked.runs}, too few in {too_few}", flush=True)
            if too_few > may_miss:
                failed.append(f"{name}: too few in {too_few}")
            if asked.runs - hit > may_miss:
                failed.append(f"{name}: missed in {asked.runs - hit}: "
                              f"{next((why for why in got if not isinstance(why, int)), numbers)}")
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
