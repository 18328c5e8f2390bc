#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of known truth in which trustworthy reports were once wrong: steps whose length changes within the run, a few
long evaluations, costs that appear in few later checkpoints or in a timed flush, a fixed order. One row per kind; fails
where a trustworthy report is wrong.

    seal_regimes.py INTERFERENCE [--runs N] [KIND..]
"""
import pathlib
import sys
import tempfile

from seal_runs import (CONTROLS, Clock, analyse, calm, control, draw_slots, numpy, study, with_roles, write_noise,
                       write_steps)

PAUSED = {"placebo": "placebo", "control.pause": "pause"}  # what `crosstalk run` takes for any program
ROLES = {**CONTROLS, **PAUSED}


def draw_clock(rng, blocks, slot_ms, noises=("mem", "net"), controls=CONTROLS):
    return Clock(draw_slots(rng, [*noises, *controls], blocks), slot_ms)


def draw_paused_clock(rng, blocks, slot_ms, noises, length=5.0, every=100.0):
    clock = draw_clock(rng, blocks, slot_ms, noises, PAUSED)
    for p, (_, _, on) in enumerate(clock.slots):
        if on == "control.pause":
            at = clock.start + p * clock.slot_ms + every * rng.random()
            while at + length < clock.start + (p + 1) * clock.slot_ms:
                clock.pauses.append((at, at + length))
                at += every * (.5 + rng.random())
    return clock


def one_rank(c, parts, delay=1.0, stop=40.0):
    """Rows of a rank. parts(number, now) -> [(work ms, pace by slot, is checkpoint)] in the order of execution."""
    rows, now, i = [], 0.0, 0
    while now < c.end - stop:
        d, s = control(c, now, delay, 0.8 * delay)
        at, ck = now + d + s, 0.0
        for work, pace, is_ck in parts(i, now):
            done = c.until(at, work, pace)
            ck += (done - at) if is_ck else 0.0
            at = done
        rows.append((0, i, now, at, 0.9 * (at - now - d - s - ck), 0.0, ck, d, s))
        now, i = at, i + 1
    return rows


def mem(c, percent, noise="mem"):
    return lambda p: 1 + percent / 100 * (c.on(p) == noise)


# ---- kinds: f(rng) -> clock, rows, {noise: truth in percent} [, design, options]

def regimes(rng, order, harm, blocks=100, cv=0.02, slot=1000.0):
    """order: [(share of time, step ms)], one after the other by step NUMBER; harm: slowdown in percent by regime under
    mem."""
    c = draw_paused_clock(rng, blocks, slot, ("mem", "net", "io"))
    numbers, ends = 0, []
    for share, ms in order:
        numbers += int(share * c.end / ms)
        ends.append(numbers)
    def parts(i, now):
        r = next((k for k, e in enumerate(ends) if i < e), len(ends) - 1)
        ms = order[r][1]
        return [(ms * max(.2, 1 + cv * rng.standard_normal()), mem(c, harm[r]), False)]
    rows = one_rank(c, parts)
    # truth: the time of exactly these steps if mem were on all the time
    total = sum(s for s, _ in order)
    return c, rows, {"mem": sum(s / total * h for (s, _), h in zip(order, harm)), "net": 0.0, "io": 0.0}


def unfrozen(rng, harm=(0.0, 25.0), blocks=60, options=("--budget", "10%")):
    """crosstalk run of any program (control.pause, slots of 1 s, 60 blocks = 8 min), --budget 10%: steps of 20 ms for
    half of the time, then of 60 ms (the backbone is unfrozen, images become larger); mem slows only the latter, by 25
    %.
    """
    return *regimes(rng, [(.5, 20.0), (.5, 60.0)], harm, blocks=blocks), "rotation", list(options)


def frozen(rng):
    """The same, but mem slows only the short steps, by 18 %."""
    return unfrozen(rng, (18.0, 0.0))


def few_evaluations(rng, evaluations=4, blocks=20, length=2000.0, cv=0.3, noises=("mem", "net", "io")):
    """crosstalk run of any program, 160 s, slots of 1 s: an evaluation of 2 s (+- 30 %) at the end of each of four
    epochs; no noise harms.
    """
    c = draw_paused_clock(rng, blocks, 1000.0, noises)
    epoch = int((c.end - evaluations * length) / 20.0 / (evaluations + .5))
    def parts(i, now):
        w = [(20.0 * (1 + .02 * rng.standard_normal()), calm, False)]
        if i % epoch == epoch - 1:
            w.append((length * max(.2, 1 + cv * rng.standard_normal()), calm, False))
        return w
    return c, one_rank(c, parts), {n: 0.0 for n in noises}


def few_evaluations_six(rng):
    """Six noises (or levels), 30 blocks = 5.5 min, evaluations of 2 s (+- 30 %); no noise harms."""
    return few_evaluations(rng, 4, 30, 2000.0, .3, tuple(f"n{k}" for k in range(6)))


def accumulation(rng, percent=50.0, extra=2.0, every=5, blocks=100, cv=0.02, slot=10):
    """Each fifth step has an exchange (or write) of two steps' length, which runs slower while mem is on."""
    c = draw_clock(rng, blocks, 20.0 * slot)
    def parts(i, now):
        w = [(20.0 * (1 + cv * rng.standard_normal()), calm, False)]
        if i % every == every - 1:
            w.append((20.0 * extra * (1 + cv * rng.standard_normal()), mem(c, percent), False))
        return w
    return c, one_rank(c, parts), {"mem": percent * extra / (every + extra), "net": 0.0}


def accumulation_short(rng):
    """Each fourth step has an exchange of 0.8 steps beyond, which is 6.8 % slower while mem is on; CV 0.3 %, 200
    blocks.
    """
    return accumulation(rng, 6.8, .8, 4, 200, .003)


def fixed_sequence(rng):
    """A fixed sequence, in which mem follows net, which leaves 3 % in the slot after it; mem does nothing."""
    fixed = [None, "net", "mem", None, "placebo", "control.delay", None, "control.sham"]
    c = Clock([(b, p, on) for b in range(40) for p, on in enumerate(fixed)], 200.0)
    after = lambda p: 1 + .03 * (p > 0 and c.on(p - 1) == "net")
    return c, one_rank(c, lambda i, now: [(20.0 * (1 + .02 * rng.standard_normal()), after, False)]), \
        {"mem": 0.0, "net": 3.0}, "sequence"


def few_debts(rng, debt=.03, checkpoints=10, blocks=60, length=3.0, cv=.02):
    """Each step under mem adds 3 % of a step (dirty pages) to the next of only ten checkpoints (phase, each 3
    steps)."""
    c, owed = draw_clock(rng, blocks, 200.0), [0.0]
    every = int(c.end / 20.0 / 1.02 / (checkpoints + .5))
    def parts(i, now):
        owed[0] += debt * (c.on(c.place(now)) == "mem")
        w = [(20.0 * (1 + cv * rng.standard_normal()), calm, False)]
        if i % every == every - 1:
            w.append((20.0 * (length * (1 + .03 * rng.standard_normal()) + owed[0]), calm, True))
            owed[0] = 0.0
        return w
    return c, one_rank(c, parts), {"mem": 100 * debt * every / (every + length), "net": 0.0}


def timed_flush(rng, debt=.05, every=5000.0, blocks=200, slot=10, cv=.02):
    """Each step under mem leaves dirty pages worth 5 % of a step; every 5 s (wall clock, 25 slots) the current step
    stalls until they are written."""
    c, state = draw_clock(rng, blocks, 20.0 * slot), [0.0, every * rng.random()]
    def parts(i, now):
        state[0] += debt * (c.on(c.place(now)) == "mem")
        w = [(20.0 * (1 + cv * rng.standard_normal()), calm, False)]
        if now >= state[1]:
            w.append((20.0 * state[0], calm, False))
            state[:] = 0.0, state[1] + every
        return w
    return c, one_rank(c, parts), {"mem": 100 * debt, "net": 0.0}


KINDS = {kind.__name__: kind for kind in (
    unfrozen, frozen, few_evaluations, few_evaluations_six, accumulation_short, few_debts, timed_flush, fixed_sequence)}


def one(job):
    program, kind, seed = job
    clock, rows, truth, *more = KINDS[kind](numpy.random.default_rng([seed, *kind.encode()]))
    design, options = [*more, *("rotation", [])[len(more):]]
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch) / "run"
        write_steps(run, rows)
        (run / "noise" / "node.0").mkdir(parents=True)
        write_noise(run / "noise" / "node.0" / "trace", with_roles(clock.slots, ROLES), clock.start, clock.slot_ms, design,
                    pauses=clock.pauses)
        verdict = analyse(program, [run], run / "report", *options)
    return verdict, {(noise, ""): percent for noise, percent in truth.items()}, []


if __name__ == "__main__":
    sys.exit(study(__doc__, KINDS, one))
