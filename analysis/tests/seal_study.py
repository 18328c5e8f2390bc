#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of known truth that try to make a report say TRUSTWORTHY and be wrong: harm in places that the report may leave
out.

    seal_study.py INTERFERENCE [--runs N] [SCENARIO..]

Each scenario is a training whose slowdown beside the noise `mem` is known by construction. It is written as a run
directory (steps.csv, a noise archive by Python's otf2) and analysed by the real program. A trustworthy report is wrong
if it says safe of a truth above the budget of 1 %, or unsafe of one below. Exit code 1 if more than 3 % are wrong (and
what chance adds to so many runs), if the 95 % intervals hold the truth too rarely, or if calm runs are distrusted."""
import math
import multiprocessing
import pathlib
import sys
import tempfile

from seal_attacks import ATTACKS, NOISES
from seal_runs import (CONTROLS, Clock, analyse, arguments, by_chance, control, draw_slots, end, is_wrong, numpy,
                       with_roles, write_noise, write_steps)

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


def train(random, what, clock):
    """Rows rank, step, begin, end, forward, wait_exchange, checkpoint, control_delay, control_settle: ms."""
    step, slots = 20.0, clock.slots

    def pace(place):
        slow = 1.0 + (what["slow"] if clock.on(place) == "mem" else 0.0)
        before = slots[max(0, place - what["left_slots"]):place]
        return slow + what["left"] * sum(on == "mem" for _, _, on in before)

    def of_validation(place):
        return what["validation"][2] if clock.on(place) == "mem" else 1.0

    rows, now, number, deviation = [], 0.0, 0, random.standard_normal()
    until_checkpoint, flushed = 0.0, -1
    while now < clock.end - 2 * step:
        deviation = what["memory"] * deviation + math.sqrt(1 - what["memory"] ** 2) * random.standard_normal()
        place = clock.place(now)
        on = clock.on(place)
        work = step * max(0.2, 1 + what["spread"] * deviation)
        if random.random() < what["accidents"]:
            work *= 2 + 3 * random.random()
        delay, settle = control(clock, now, 1.0, 0.8)
        extra = 0.0
        if what["every"] and number % what["every"][0] == what["every"][0] - 1:
            extra = step * what["every"][1] * (1 + (what["every"][2] if on == "mem" else 0.0))
        if what["often"]:
            until_checkpoint += (what["often"][2] if on == "mem" else 1.0) / what["often"][0]
            if until_checkpoint >= 1.0:
                until_checkpoint -= 1.0
                extra = step * what["often"][1]
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
            ready.append(clock.until(now + settle + delay + extra, own, pace))
        end = max(ready)
        for rank in range(0 if lost else what["ranks"]):
            own = ready[rank] - now - settle - delay - extra
            rows.append((rank, number * what["stride"], now, end, own, end - ready[rank], extra,
                         delay if rank == 0 else 0.0, settle + (0.0 if rank == 0 else delay)))
        now, number = end, number + 1
        if what["gap"]:
            now += step * what["gap"][0] * (1 + (what["gap"][1] if clock.on(clock.place(now)) == "mem" else 0.0))
        if what["validation"] and number % what["validation"][0] == 0:
            now = clock.until(now, step * what["validation"][1], of_validation)
    return rows


def draw_clock(random, blocks, slot):
    return Clock(draw_slots(random, [*NOISES, *CONTROLS], blocks), 20.0 * slot)


def write_run(run, clock, rows):
    """A run directory with these rows of train() and the archive of its noise."""
    write_steps(run, rows)
    (run / "noise" / "node.0").mkdir(parents=True)
    write_noise(run / "noise" / "node.0" / "trace", with_roles(clock.slots, CONTROLS), clock.start, clock.slot_ms,
                factors=[*NOISES, *CONTROLS])


def one(job):
    program, name, seed = job
    random = numpy.random.default_rng([seed, *name.encode()])
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch) / "run"
        if name in ATTACKS:
            clock, rows = ATTACKS[name][0](random)
        else:
            what = CALM | SCENARIOS[name][0]
            clock = draw_clock(random, what["blocks"], what["slot"])
            rows = train(random, what, clock)
        write_run(run, clock, rows)
        return analyse(program, [run], run / "report")


def main():
    asked = arguments(__doc__, 40)
    failed = []
    with multiprocessing.Pool() as pool:
        for name in asked.kind or [*SCENARIOS, *ATTACKS]:
            truth = (ATTACKS if name in ATTACKS else SCENARIOS)[name][1]
            got = pool.map(one, [(asked.program, name, seed) for seed in range(1, asked.runs + 1)])
            reports = [report for report in got if not isinstance(report, str)]
            sure = [report["factors"]["mem"] for report in reports if report["trustworthy"]]
            words = {word: sum(mem["verdict"] == word for mem in sure)
                     for word in ("safe", "unsafe", "undecided", "insensitive")}
            wrong = sum(is_wrong(mem["verdict"], truth, 1.0) or (mem["verdict"] == "safe" and truth < 0) for mem in sure)
            held = sum(mem["low_percent"] <= truth <= mem["high_percent"] for mem in sure)
            mean = numpy.mean([mem["effect_percent"] for mem in sure]) if sure else math.nan
            print(f"{name}: true {truth:.2f} %, mean {mean:.2f}; {len(reports)} reports, {len(sure)} trustworthy, "
                  f"{', '.join(f'{count} {word}' for word, count in words.items())}; intervals hold it in {held}; "
                  f"wrong {wrong}", flush=True)
            if len(reports) < asked.runs:
                failed.append(f"{name}: {asked.runs - len(reports)} without a report: "
                              f"{next(report for report in got if isinstance(report, str))}")
            if name not in MAY_MISS and wrong > 0.03 * len(sure) + by_chance(0.03, len(sure)):
                failed.append(f"{name}: {wrong} wrong verdicts")
            if name not in MAY_MISS | HELD_OUT and held < 0.92 * len(sure) - by_chance(0.92, len(sure)):
                failed.append(f"{name}: intervals hold the truth in {held} of {len(sure)}")
            if len(sure) < asked.runs * 0.9 - by_chance(0.9, asked.runs):
                failed.append(f"{name}: only {len(sure)} trustworthy")
    return end(failed)


if __name__ == "__main__":
    sys.exit(main())
