#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of known truth that try to make a report say TRUSTWORTHY and be wrong: harm in places that the report may leave
out.

    seal_study.py INTERFERENCE [--runs N] [--jobs N] [SCENARIO..]

Each scenario is a training whose slowdown beside the noise `mem` is known by construction. It is written as a run
directory (steps.csv, a noise archive by Python's otf2) and analysed by the real program. A trustworthy report is wrong
if it says safe of a truth above the budget of 1 %, or unsafe of one below. Exit code 1 if more than 3 % are wrong (and
what chance adds to so many runs), if the 95 % intervals hold the truth too rarely, or if calm runs are distrusted."""
import argparse
import json
import math
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

from seal_attacks import ATTACKS, CONTROLS, NOISES, draw_slots

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

# Keys of a scenario; those not given are as in a calm run. Times in quiet steps of 20 ms.
CALM = {"blocks": 30, "slot": 10.0, "spread": 0.03, "memory": 0.3, "accidents": 0.0, "slow": 0.0, "left": 0.0,
        "left_slots": 1, "stall": None, "stall_net": None, "lost": False, "after": None, "every": None, "often": None,
        "stride": 1, "gap": None, "validation": None, "ranks": 1}

# Slowdown in percent of a training under the noise all the time.
SCENARIOS = {
    "calm": ({}, 0.0),
    "calm with accidents": ({"accidents": 0.01}, 0.0),
    "two noises that stall": ({"stall": (0.02, 20), "stall_net": (0.02, 20), "blocks": 60}, 40.0),
    "stalls of half a slot": ({"stall": (0.03, 5), "blocks": 60}, 15.0),
    "stalls of ten slots": ({"stall": (0.02, 100), "blocks": 60}, 200.0),
    "long slots": ({"slot": 60.0, "blocks": 12, "stall": (0.02, 20)}, 40.0),
    "rare stalls": ({"stall": (0.01, 8)}, 8.0),
    "stalls among accidents": ({"accidents": 0.01, "stall": (0.04, 4), "blocks": 60}, 16.0),
    "every 7 steps": ({"every": (7, 0.6, 1.0)}, 100 * (0.6 / 7) / (1 + 0.6 / 7)),
    "every 50 steps": ({"every": (50, 3.0, 1.0), "blocks": 60}, 100 * (3 / 50) / (1 + 3 / 50)),
    "every 200 steps": ({"every": (200, 12.0, 1.0), "blocks": 120}, 100 * (12 / 200) / (1 + 12 / 200)),
    "small gaps": ({"gap": (0.03, 2.0)}, 100 * 0.06 / 1.03),
    "ranks that stall apart": ({"ranks": 4, "stall": (0.01, 10), "blocks": 60}, 40.0),
    "noise that helps": ({"slow": -0.05}, -5.0),
    "a little stays": ({"slow": 0.005, "left": 0.015}, 2.0),
    "three slots stay": ({"left": 0.01, "left_slots": 3, "blocks": 100}, 3.0),
    "stalls in the slot after": ({"after": (0.5, 1.0), "blocks": 100}, 5.0),
    "stalled steps are not recorded": ({"stall": (0.02, 50), "lost": True, "blocks": 60}, 100.0),
    "numbers count samples": ({"every": (25, 4.0, 1.0), "stride": 32}, 100 * (4 / 25) / (1 + 4 / 25)),
    "checkpoints twice as often": ({"often": (25, 4.0, 2.0), "blocks": 100}, 100 * (4 / 25) / (1 + 4 / 25)),
    "validations of five slots": ({"validation": (200, 50.0, 1.3), "blocks": 150},
                                  100 * 0.3 * (50 / 200) / (1 + 50 / 200)),
}
MAY_MISS = {"rare stalls"}  # where a run may have none
# Scenarios whose harm is not in the effect; the report then has to say so instead of a verdict.
HELD_OUT = {"stalls in the slot after", "checkpoints a quarter more often", "debts that the next checkpoint pays",
            "two blocks", "a state that stays for a slot", "a state that stays for three slots",
            "accidents half as frequent", "checkpoints a third rarer", "debts that vary",
            "checkpoints longer in the slot after", "steps that wait for others",
            "one evaluation that began elsewhere", "checkpoints without a label", "writes above a threshold"}


def train(random, what, slots):
    """Rows rank, step, begin, end, forward, wait_exchange, checkpoint, control_delay, control_settle: ms."""
    step, slot_ms, start = 20.0, 20.0 * what["slot"], 600.0
    end_of_noise = start + slot_ms * len(slots)

    def treatment(at):
        place = math.floor((at - start) / slot_ms)
        return (slots[place][2], place) if 0 <= place < len(slots) else (None, -1)

    def pace(place):
        if place < 0:
            return 1.0
        slow = 1.0 + (what["slow"] if slots[place][2] == "mem" else 0.0)
        before = slots[max(0, place - what["left_slots"]):place]
        return slow + what["left"] * sum(on == "mem" for _, _, on in before)

    def until(at, work, pace=pace):  # end of this amount of work that begins at `at`
        while True:
            _, place = treatment(at)
            border = start if at < start else math.inf if place < 0 else start + (place + 1) * slot_ms
            done = (border - at) / pace(place)
            if done >= work:
                return at + work * pace(place)
            work, at = work - done, border

    def of_validation(place):
        return what["validation"][2] if place >= 0 and slots[place][2] == "mem" else 1.0

    rows, now, number, deviation = [], 0.0, 0, random.standard_normal()
    until_checkpoint, flushed = 0.0, -1
    while now < end_of_noise - 2 * step:
        deviation = what["memory"] * deviation + math.sqrt(1 - what["memory"] ** 2) * random.standard_normal()
        on, _ = treatment(now)
        work = step * max(0.2, 1 + what["spread"] * deviation)
        if random.random() < what["accidents"]:
            work *= 2 + 3 * random.random()
        settle = 0.8 if on in ("control.delay", "control.sham") else 0.0
        delay = 1.0 if on == "control.delay" else 0.0
        extra = 0.0
        if what["every"] and number % what["every"][0] == what["every"][0] - 1:
            extra = step * what["every"][1] * (1 + (what["every"][2] if on == "mem" else 0.0))
        if what["often"]:
            until_checkpoint += (what["often"][2] if on == "mem" else 1.0) / what["often"][0]
            if until_checkpoint >= 1.0:
                until_checkpoint -= 1.0
                extra = step * what["often"][1]
        place = treatment(now)[1]
        lost = False
        ready = []
        for rank in range(what["ranks"]):
            own = work * (1 + (0.01 * random.standard_normal() if what["ranks"] > 1 else 0.0))
            for noise, stall in (("mem", what["stall"]), ("net", what["stall_net"])):
                if stall and on == noise and random.random() < stall[0]:
                    own += step * stall[1]
                    lost = what["lost"]
            if what["after"] and place > flushed and place > 0 and slots[place - 1][2] == "mem":
                flushed = place
                own += step * what["after"][1] if random.random() < what["after"][0] else 0.0
            ready.append(until(now + settle + delay + extra, own))
        end = max(ready)
        for rank in range(0 if lost else what["ranks"]):
            own = ready[rank] - now - settle - delay - extra
            rows.append((rank, number * what["stride"], now, end, own, end - ready[rank], extra,
                         delay if rank == 0 else 0.0, settle + (0.0 if rank == 0 else delay)))
        now, number = end, number + 1
        if what["gap"]:
            now += step * what["gap"][0] * (1 + (what["gap"][1] if treatment(now)[0] == "mem" else 0.0))
        if what["validation"] and number % what["validation"][0] == 0:
            now = until(now, step * what["validation"][1], of_validation)
    return rows, start, slot_ms


ROLES = {**{noise: "treatment" for noise in NOISES}, **CONTROLS}


def write_noise(folder, slots, start, slot_ms, roles=ROLES):
    with otf2.writer.open(str(folder), timer_resolution=10**9) as trace:
        for key, value in (("DESIGN", "rotation"), ("SCHEDULE", "rotation(simulated)"), ("SEED", "1"),
                           ("FACTORS", ",".join(roles))):
            _otf2.Archive_SetProperty(trace.handle, "CROSSTALK::" + key, value, True)
        define = trace.definitions
        machine = define.system_tree_node("machine", "machine")
        node = define.system_tree_node("node", "node", parent=machine)
        group = define.location_group("noise", location_group_type=LocationGroupType.PROCESS,
                                      system_tree_parent=node)
        schedule = define.location("schedule", type=LocationType.CPU_THREAD, group=group)
        thread = define.location("cpu 1", type=LocationType.CPU_THREAD, group=group)
        regions = {name: define.region(name) for name in ("quiet", *roles)}
        attributes = {name: define.attribute(name, type=kind)
                      for name, kind in (("block", Type.UINT64), ("position", Type.UINT64), ("level", Type.STRING),
                                         ("stressor", Type.STRING), ("role", Type.STRING))}
        planned = trace.event_writer_from_location(schedule)
        done = trace.event_writer_from_location(thread)
        for number, (block, place, on) in enumerate(slots):
            begin = ORIGIN + round((start + number * slot_ms) * MS)
            end = ORIGIN + round((start + (number + 1) * slot_ms) * MS)
            values = {attributes["block"]: block, attributes["position"]: place, attributes["level"]: "",
                      attributes["stressor"]: on or "quiet",
                      attributes["role"]: roles[on] if on else ""}
            planned.enter(begin, regions[on or "quiet"], attributes=values)
            planned.leave(end, regions[on or "quiet"])
            if on:
                done.enter(begin, regions[on])
                done.leave(end, regions[on])


def write_run(run, rows, slots, start, slot_ms):
    """A run directory with these rows of train() and the archive of its noise."""
    (run / "train").mkdir(parents=True)
    (run / "noise" / "node.0").mkdir(parents=True)
    with open(run / "train" / "steps.csv", "w") as table:
        print("rank,step,begin_ns,end_ns,forward_ns,wait_exchange_ns,checkpoint_ns,control_delay_ns,"
              "control_settle_ns", file=table)
        for rank, step, begin, end, *phases in rows:
            print(rank, step, ORIGIN + round(begin * MS), ORIGIN + round(end * MS),
                  *(max(0, math.floor(phase * MS) - 1) for phase in phases), sep=",", file=table)
    write_noise(run / "noise" / "node.0" / "trace", slots, start, slot_ms)


def one(job):
    program, name, seed = job
    random = numpy.random.default_rng([seed, *name.encode()])
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch) / "run"
        if name in ATTACKS:
            training, rows = ATTACKS[name][0](random)
            write_run(run, rows, training.slots, training.start, training.slot_ms)
        else:
            what = CALM | SCENARIOS[name][0]
            slots = draw_slots(random, what["blocks"])
            rows, start, slot_ms = train(random, what, slots)
            write_run(run, rows, slots, start, slot_ms)
        done = subprocess.run([program, "analyse", run, "--draws", "0"], capture_output=True, text=True)
        if not (run / "report" / "verdict.json").exists():
            return None, done.stderr
        verdict = json.loads((run / "report" / "verdict.json").read_text())
        mem = verdict["factors"]["mem"]
        return verdict["trustworthy"], mem["verdict"], mem["effect_percent"], mem["low_percent"], mem["high_percent"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("scenario", nargs="*")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_intermixed_args()
    failed = []
    with multiprocessing.Pool(asked.jobs) as pool:
        for name in asked.scenario or [*SCENARIOS, *ATTACKS]:
            truth = (ATTACKS if name in ATTACKS else SCENARIOS)[name][1]
            got = pool.map(one, [(asked.program, name, seed) for seed in range(1, asked.runs + 1)])
            reports = [report for report in got if report[0] is not None]
            sure = [report for report in reports if report[0]]
            words = {word: sum(report[1] == word for report in sure)
                     for word in ("safe", "unsafe", "undecided", "insensitive")}
            wrong = words["safe"] if truth > 1 or truth < 0 else 0
            wrong += words["unsafe"] if truth < 1 else 0
            held = sum(report[3] <= truth <= report[4] for report in sure)
            mean = numpy.mean([report[2] for report in sure]) if sure else math.nan
            print(f"{name}: true {truth:.2f} %, mean {mean:.2f}; {len(reports)} reports, {len(sure)} trustworthy, "
                  f"{', '.join(f'{count} {word}' for word, count in words.items())}; intervals hold it in {held}; "
                  f"wrong {wrong}", flush=True)

            def least(share):  # for this number of runs, three standard errors below
                return len(sure) * share - 3 * math.sqrt(len(sure) * share * (1 - share))
            if len(reports) < asked.runs:
                failed.append(f"{name}: {asked.runs - len(reports)} without a report: "
                              f"{next(report[1] for report in got if report[0] is None)}")
            if name not in MAY_MISS and wrong > 0.03 * len(sure) + 3 * math.sqrt(0.03 * 0.97 * len(sure)):
                failed.append(f"{name}: {wrong} wrong verdicts")
            if name not in MAY_MISS | HELD_OUT and held < least(0.92):
                failed.append(f"{name}: intervals hold the truth in {held} of {len(sure)}")
            if len(sure) < asked.runs * 0.9 - 3 * math.sqrt(asked.runs * 0.09):
                failed.append(f"{name}: only {len(sure)} trustworthy")
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
