# SPDX-License-Identifier: Apache-2.0
"""Runs of known truth whose designs once made trustworthy reports wrong: states that all noises share, fixed orders,
levels out of order, cores, parts of one run with unlike slots, two hosts. One row per kind; fails where a trustworthy
report is wrong, or says more of a curve or of cores than its verdicts do.

    seal_designs.py INTERFERENCE [--runs N] [KIND..]
"""
import json
import pathlib
import sys
import tempfile

from seal_runs import Clock, On, analyse, calm, draw_slots, judged, numpy, study, write_noise, write_steps

STEP = 20.0  # ms
CONTROLS = [On("placebo", "", "placebo"), On("control.delay", "", "delay"), On("control.sham", "", "sham")]


def noises(*names):
    return [On(name, "", "treatment") for name in names]


def levels(factor, option, values):
    return [On(factor, f"{option}={value}", "treatment") for value in values]


def rotation(rng, treatments, blocks):
    """Draws [(block, position, treatment that is on)]."""
    return draw_slots(rng, [(one,) for one in [*treatments, *CONTROLS]], blocks, ())


def factorial(rng, treatments, blocks):
    cell = [tuple(one for k, one in enumerate(treatments) if which >> k & 1) for which in range(2 ** len(treatments))]
    cell += [(control,) for control in CONTROLS]
    return [(b, p, cell[i]) for b in range(blocks) for p, i in enumerate(rng.permutation(len(cell)))]


def sequence(order, blocks):
    return [(b, p, on) for b in range(blocks) for p, on in enumerate(order)]


def has(clock, place, factor):
    return place >= 0 and any(on.factor == factor for on in clock.slots[place][2])


def noisy(clock, place):
    return place >= 0 and any(on.role == "treatment" for on in clock.slots[place][2])


def training(rng, clock, pace, step=STEP, cv=0.02, stalls=lambda now: 0.0):
    """Rows of one rank: steps under a pace by slot, some with a stall of a given length in ms; the known delay is 5 %
    of a step."""
    rows, now, number = [], 0.0, 0
    while now < clock.end - 2.5 * step:
        place = clock.place(now)
        fits = now + 2 * step < clock.start + (place + 1) * clock.slot_ms  # else no control, as in ddl-train
        delay = 0.05 * step if fits and has(clock, place, "control.delay") else 0.0
        settle = 0.04 * step if fits and (delay or has(clock, place, "control.sham")) else 0.0
        begin, stall = now + delay + settle, stalls(now)
        now = clock.until(begin, step * max(0.2, 1 + cv * rng.standard_normal()), pace)
        now = clock.until(now, stall, calm)
        rows.append((0, number, begin - delay - settle, now, 0.9 * (now - begin), delay, settle))
        number += 1
    return rows


def write_run(run, rows, design, clocks):
    """clocks: {host: its clock}; the clock of a rank is that of its host."""
    write_steps(run, rows, ("forward", "control_delay", "control_settle"), list(clocks))
    for number, (host, clock) in enumerate(clocks.items()):
        (run / "noise" / f"{host}.{number}").mkdir(parents=True)
        write_noise(run / "noise" / f"{host}.{number}" / "trace", clock.slots, clock.start, clock.slot_ms, design, host)


# ---- kinds: f(rng, where) -> {(factor, level): truth in percent}; runs are `where`/run, or run-1, run-2 ..

def cold_caches(rng, where, treatments, percent, slots, blocks=40, draw=rotation):
    """Steps are slower under any noise and for some slots after it; a cold cache gets no colder."""
    clock = Clock(draw(rng, treatments, blocks), 10 * STEP)
    pace = lambda p: 1 + percent / 100 * any(noisy(clock, p - back) for back in range(slots + 1))
    write_run(where / "run", training(rng, clock, pace), draw.__name__, {"node": clock})
    return {(one.factor, one.level): percent for one in treatments}


def levels_state(rng, where):
    """Eight levels, whose effect lasts for three slots, 3 %."""
    return cold_caches(rng, where, levels("memory.stream", "rate", [f"{2**k}GiB/s" for k in range(8)]), 3.0, 3)


def noises_state(rng, where):
    """Four noises, whose effect lasts for three slots, 1.5 %."""
    return cold_caches(rng, where, noises("mem", "net", "io", "cpu"), 1.5, 3)


def noise_state(rng, where):
    """One noise, whose effect lasts for eight slots, 3 %."""
    return cold_caches(rng, where, noises("mem"), 3.0, 8, 60)


def factorial_state(rng, where):
    """Two simultaneous noises, whose effect lasts for two slots, 1.8 %."""
    return cold_caches(rng, where, noises("mem", "net"), 1.8, 2, 60, factorial)


ORDER = [(), tuple(noises("net")), tuple(noises("mem")), (), *[(one,) for one in CONTROLS]]


def sequence_pool(rng, where):
    """Three runs of a fixed order, in which net slows its next slot by 3 %, which is that of mem; mem does nothing."""
    for number in (1, 2, 3):
        clock = Clock(sequence(ORDER, 20), 2000.0)
        pace = lambda p, clock=clock: 1 + 0.03 * has(clock, p - 1, "net")
        write_run(where / f"run-{number}", training(rng, clock, pace), "sequence", {"node": clock})
    return {("mem", ""): 0.0, ("net", ""): 3.0}


def sequence_agent(rng, where):
    """An agent slows steps by 8 % for half a second of every 8 s, always in the slot of mem, in a fixed order of 8
    s."""
    order = [(), tuple(noises("mem")), (), (CONTROLS[0],), (), (CONTROLS[1],), (), (CONTROLS[2],)]
    clock = Clock(sequence(order, 40), 1000.0)
    pace = lambda p: 1 + 0.04 * has(clock, p, "mem")  # caused by the agent, not by mem
    write_run(where / "run", training(rng, clock, pace), "sequence", {"node": clock})
    return {("mem", ""): 0.0}


def curve(rng, where, percents, blocks=40):
    treatments = levels("memory.stream", "rate", [f"{2**k}GiB/s" for k in range(len(percents))])
    of = {one: percent for one, percent in zip(treatments, percents)}
    clock = Clock(rotation(rng, treatments, blocks), 10 * STEP)
    pace = lambda p: 1 + sum(of.get(on, 0.0) for on in clock.slots[p][2]) / 100
    write_run(where / "run", training(rng, clock, pace), "rotation", {"node": clock})
    return {(one.factor, one.level): percent for one, percent in of.items()}


def curve_helps(rng, where):
    """All levels make steps 3 % shorter."""
    return curve(rng, where, [-3.0] * 4)


def curve_one_low(rng, where):
    """Only the lowest of four levels costs something."""
    return curve(rng, where, [3.0, 0.0, 0.0, 0.0])


def curve_knee(rng, where):
    """Nothing at the lowest level, 3 % at all others: where between them the effect begins is unknown."""
    return curve(rng, where, [0.0, 3.0, 3.0])


def cores(rng, where, percent, stall=lambda keep: 0.0, blocks=30):
    """Slowdown in percent and share of stalls (four steps long) by the number of cores kept; one step in 100 stalls
    anyway."""
    keeps = (1, 2, 3, 4, 6, 8, 12, 16)
    clock = Clock(rotation(rng, levels("job.cores", "keep", keeps), blocks), 50 * STEP)
    keep_of = lambda p: next((int(on.level[5:]) for on in clock.slots[p][2] if on.factor == "job.cores"), None)
    pace = lambda p: 1 + (percent(keep_of(p)) / 100 if keep_of(p) else 0.0)
    def stalls(now):
        keep = keep_of(clock.place(now)) if clock.place(now) >= 0 else None
        return 4 * STEP * (rng.random() < 0.01 + (stall(keep) if keep else 0.0))
    write_run(where / "run", training(rng, clock, pace, cv=0.03, stalls=stalls), "rotation", {"node": clock})
    return {("job.cores", f"keep={keep}"): percent(keep) + 400 * stall(keep) for keep in keeps}


def needs_2(keep):
    return 100 * (max(1.0, 2 / keep) - 1)


def cores_stall(rng, where):
    """With 2 cores, which are enough otherwise, one step in 160 stalls: 2.4 %."""
    return cores(rng, where, needs_2, lambda keep: 0.006 if keep == 2 else 0.0)


def cores_odd(rng, where):
    """Keeping 4 cores costs 1.5 %, keeping 3 or 2 costs nothing."""
    return cores(rng, where, lambda keep: 1.5 if keep == 4 else needs_2(keep))


def parts(rng, where, percents):
    """A run whose second part has steps and slots three times as long, and lasts as long as the first; slowdown in
    percent by part."""
    for number, (step, blocks, percent) in enumerate(zip((20.0, 60.0), (60, 20), percents), 1):
        clock = Clock(rotation(rng, noises("mem", "net"), blocks), 10 * step)
        pace = lambda p, clock=clock, percent=percent: 1 + percent / 100 * has(clock, p, "mem")
        run = where / ("run" if number == 1 else "run/part-2")
        write_run(run, training(rng, clock, pace, step), "rotation", {"node": clock})
    return {("mem", ""): sum(percents) / 2, ("net", ""): 0.0}


def parts_late(rng, where):
    """mem costs 2.4 % in the part with long steps only: 1.2 % of the run."""
    return parts(rng, where, (0.0, 2.4))


def parts_early(rng, where):
    """mem costs 1.6 % in the part with short steps only: 0.8 % of the run."""
    return parts(rng, where, (1.6, 0.0))


def hosts_apart(rng, where):
    """Noise begins 0.45 slots later on the second of two hosts: 0.9 % is 1.1 % in slots of either."""
    slots = rotation(rng, noises("mem", "net"), 100)
    first, second = Clock(slots, 10 * STEP), Clock(slots, 10 * STEP, 600.0 + 4.5 * STEP)
    rows, now, number = [], 0.0, 0
    while now < first.end - 2.5 * STEP:
        delay = STEP / 20 * has(first, first.place(now), "control.delay")
        settle = STEP / 25 * bool(delay or has(first, first.place(now), "control.sham"))
        work, begin = STEP * (1 + 0.01 * rng.standard_normal()), now
        slowed = [clock.until(now + delay + settle, work, lambda p, clock=clock: 1 + 0.009 * has(clock, p, "mem"))
                  for clock in (first, second)]
        now = max(slowed)
        rows += [(rank, number, begin, now, end - begin - delay - settle, delay * (rank == 0),
                  settle + delay * (rank == 1)) for rank, end in enumerate(slowed)]
        number += 1
    write_run(where / "run", rows, "rotation", {"a": first, "b": second})
    return {("mem", ""): 0.9, ("net", ""): 0.0}


KINDS = {kind.__name__: kind for kind in (
    levels_state, noises_state, noise_state, factorial_state, sequence_pool, sequence_agent, curve_helps, curve_one_low,
    curve_knee, cores_stall, cores_odd, parts_late, parts_early, hosts_apart)}


def contradictions(report, verdict):
    """Statements of a curve or of cores.json that the verdicts do not support."""
    all_judged = judged(verdict)
    found = []
    for factor, of in verdict["factors"].items():
        up_to = of.get("tolerated_level_low")
        for level in of.get("levels", {}) if up_to else ():
            rate = level.partition("=")[2].removesuffix("GiB/s")
            if rate.isdigit() and int(rate) * 2**30 <= up_to and all_judged[factor, level]["verdict"] != "safe":
                found.append(f"{factor} is safe up to {up_to / 2**30:.2f} GiB/s, {level} is not")
        if up_to and up_to % 2**30:
            found.append(f"{factor} is safe up to {up_to / 2**30:.2f} GiB/s, which did not run")
    for of in json.loads((report / "cores.json").read_text())["cores"] if (report / "cores.json").exists() else ():
        found += [f"{of['keep']} cores are enough, {level} is not safe" for (factor, level), one in all_judged.items()
                  if factor == of["factor"] and of["keep"] and int(level[5:]) >= of["keep"] and one["verdict"] != "safe"]
    return found


def one(job):
    """Of one run or pool."""
    program, kind, seed = job
    with tempfile.TemporaryDirectory() as scratch:
        where = pathlib.Path(scratch)
        truth = KINDS[kind](numpy.random.default_rng([seed, *kind.encode()]), where)
        runs = [where / "run"] if (where / "run").exists() else sorted(where.glob("run-*"))
        verdict = analyse(program, runs, where / "report")
        return verdict, truth, [] if isinstance(verdict, str) else contradictions(where / "report", verdict)


if __name__ == "__main__":
    sys.exit(study(__doc__, KINDS, one))
