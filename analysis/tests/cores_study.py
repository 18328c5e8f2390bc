#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that need a known number of cores: how often does a report recommend the right number?

    cores_study.py INTERFERENCE [--runs N] [SCENARIO..]

Each job computes with `need` threads on a node of 16 CPUs: with fewer cores a step takes need / cores as long, and
varies by 3 %. It is written as a run directory of job.cores (steps.csv, a noise archive by Python's otf2, noise.json)
and analysed by the real program. Right is the least measured number that is enough, or one more. Exit code 1 if that is
missed, or too few are recommended, in more than one of 20 (and what chance adds to so many runs)."""
import collections
import json
import multiprocessing
import pathlib
import sys
import tempfile

from seal_runs import (CONTROLS, Clock, On, analyse, arguments, by_chance, control, draw_slots, end, numpy, write_noise,
                       write_steps)

CPUS = 16
STEP = 20.0  # ms, with all cores
LEVELS = (1, 2, 3, 4, 6, 8, 12, 16)
BLOCKS = 40

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


def train(random, scenario, clock):
    """Rows rank, step, begin, end, computing, control delay, control settle: ms."""
    def pace(place):
        keep = clock.on(place)
        return 1 + slowdown(scenario, keep) / 100 if isinstance(keep, int) else 1.0

    rows, now = [], 0.0
    while now < clock.end - 2 * STEP * CPUS:
        # As trainings do: a step that may not end in its slot has no control.
        fits = now + 2 * STEP <= clock.start + (clock.place(now) + 1) * clock.slot_ms
        delay, settle = control(clock, now, 1.0, 0.8) if fits else (0.0, 0.0)
        work = STEP * max(0.2, 1 + 0.03 * random.standard_normal())
        end = clock.until(now + settle + delay, work, pace)
        rows.append((0, len(rows), now, end, end - now - settle - delay, delay, settle))
        now = end
    return rows


def shown(on):
    if isinstance(on, int):
        return (On("job.cores", f"keep={on}", "treatment"),)
    return (On(on, "", CONTROLS[on]),) if on else ()


def write_noise_json(folder):
    levels = [{"factor": "job.cores", "level": f"keep={keep}", "stressor": "job.cores", "slots": 1, "cpus": CPUS,
               "on_s": 1.0, "assigned_s": 1.0, "bytes": 1e9 * (CPUS - keep), "operations": 0} for keep in LEVELS]
    stressors = [{"name": "job.cores", "options": {"keep": str(keep), "neighbour": "memory.stream"},
                  "kept_cpus": [f"0-{keep - 1}"], "not_kept": ""} for keep in LEVELS]
    (folder / "noise.json").write_text(json.dumps(
        {"host": "node", "cpus": "0-15", "cpus_online": CPUS, "shared_on_purpose": True, "factor_levels": levels,
         "stressors": stressors}))


def write_run(run, random, scenario):
    clock = Clock(draw_slots(random, [*LEVELS, *CONTROLS], BLOCKS), 50 * STEP, 1000.0)
    write_steps(run, train(random, scenario, clock), ("forward", "control_delay", "control_settle"))
    folder = run / "noise" / "node.0"
    folder.mkdir(parents=True)
    write_noise(folder / "trace", [(block, place, shown(on)) for block, place, on in clock.slots], clock.start,
                clock.slot_ms, factors=["job.cores", *CONTROLS])
    write_noise_json(folder)


def one(job):
    """The recommended number, or why there is none."""
    program, name, seed = job
    random = numpy.random.default_rng([seed, *name.encode()])
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch) / "run"
        write_run(run, random, SCENARIOS[name])
        verdict = analyse(program, [run], run / "report", "--budget", f"{BUDGET}%")
        if isinstance(verdict, str):
            return verdict
        found = json.loads((run / "report" / "cores.json").read_text())["cores"][0]
        return found["keep"] if found["keep"] is not None else found["answer"]


def main():
    asked = arguments(__doc__, 40)
    failed = []
    may_miss = asked.runs / 20 + by_chance(0.05, asked.runs)
    with multiprocessing.Pool() as pool:
        for name in asked.kind or SCENARIOS:
            right = truth(SCENARIOS[name])
            got = pool.map(one, [(asked.program, name, seed) for seed in range(1, asked.runs + 1)])
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
    return end(failed)


if __name__ == "__main__":
    sys.exit(main())
