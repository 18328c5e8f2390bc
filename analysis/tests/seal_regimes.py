#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs of known truth in which trustworthy reports were once wrong: steps whose length changes within the run, a few
long evaluations, costs that appear in few later checkpoints or in a timed flush, a fixed order. One row per kind; fails
where a trustworthy report is wrong.

    seal_regimes.py INTERFERENCE [--runs N] [KIND..]

Shares no code with the estimator. Needs numpy and Debian's python3-otf2.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

try:
    import _otf2
    import numpy as np
    import otf2
    from otf2.enums import LocationGroupType, LocationType, Type
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

MS, ORIGIN = 1_000_000, 5_000_000_000_000
CONTROLS = {"placebo": "placebo", "control.delay": "delay", "control.sham": "sham"}
PAUSED = {"placebo": "placebo", "control.pause": "pause"}  # what `crosstalk run` takes for any program
ROLES = {**CONTROLS, **PAUSED}


def draw_slots(rng, blocks, noises=("mem", "net"), fixed=None, controls=CONTROLS):
    treatments = [*noises, *controls]
    cell = treatments + [None] * math.ceil(math.sqrt(len(treatments)))
    slots = []
    for b in range(blocks):
        order = fixed if fixed is not None else [cell[i] for i in rng.permutation(len(cell))]
        slots += [(b, p, on) for p, on in enumerate(order)]
    return slots


class Clock:
    """Slots of slot_ms from `start` on; which treatment is on at a time; when work ends under a pace by slot."""
    def __init__(self, slots, slot_ms, start=600.0):
        self.slots, self.slot_ms, self.start = slots, slot_ms, start
        self.end = start + slot_ms * len(slots)
        self.pauses = []  # (begin, end), in order
        self.next_pause = 0

    def draw_pauses(self, rng, length=5.0, every=100.0):
        for p, (_, _, on) in enumerate(self.slots):
            if on == "control.pause":
                at = self.start + p * self.slot_ms + every * rng.random()
                while at + length < self.start + (p + 1) * self.slot_ms:
                    self.pauses.append((at, at + length))
                    at += every * (.5 + rng.random())
        return self

    def place(self, at):
        p = math.floor((at - self.start) / self.slot_ms)
        return p if 0 <= p < len(self.slots) else -1

    def on(self, p):
        return self.slots[p][2] if p >= 0 else None

    def until(self, at, work, pace):
        """When the work ends; pauses stop all work. Calls must be in the order of time."""
        while True:
            while self.next_pause < len(self.pauses) and self.pauses[self.next_pause][1] <= at:
                self.next_pause += 1
            stop, go = self.pauses[self.next_pause] if self.next_pause < len(self.pauses) else (math.inf, math.inf)
            if stop <= at:
                at = go
                continue
            p = self.place(at)
            border = self.start if at < self.start else math.inf if p < 0 else self.start + (p + 1) * self.slot_ms
            border = min(border, stop)
            f = pace(p) if p >= 0 else 1.0
            if (border - at) / f >= work:
                return at + work * f
            work -= (border - at) / f
            at = border


def control(c, now, delay):
    on = c.on(c.place(now))
    return (delay if on == "control.delay" else 0.0), (0.8 * delay if on in ("control.delay", "control.sham") else 0.0)


def one_rank(c, parts, delay=1.0, stop=40.0):
    """Rows of a rank. parts(number, now) -> [(work ms, pace by slot, is checkpoint)] in the order of execution."""
    rows, now, i = [], 0.0, 0
    while now < c.end - stop:
        d, s = control(c, now, delay)
        at, ck = now + d + s, 0.0
        for work, pace, is_ck in parts(i, now):
            done = c.until(at, work, pace)
            ck += (done - at) if is_ck else 0.0
            at = done
        rows.append((0, i, now, at, 0.9 * (at - now - d - s - ck), 0.0, ck, d, s))
        now, i = at, i + 1
    return rows


def write_noise(folder, c, noises, design):
    with otf2.writer.open(str(folder), timer_resolution=10**9) as trace:
        for key, value in (("DESIGN", design), ("SCHEDULE", design + "(simulated)"), ("SEED", "1"),
                           ("FACTORS", ",".join(dict.fromkeys(on for _, _, on in c.slots if on)))):
            _otf2.Archive_SetProperty(trace.handle, "CROSSTALK::" + key, value, True)
        define = trace.definitions
        node = define.system_tree_node("node", "node", parent=define.system_tree_node("machine", "machine"))
        group = define.location_group("noise", location_group_type=LocationGroupType.PROCESS, system_tree_parent=node)
        schedule = define.location("schedule", type=LocationType.CPU_THREAD, group=group)
        thread = define.location("cpu 1", type=LocationType.CPU_THREAD, group=group)
        regions = {n: define.region(n) for n in ("quiet", "training stopped", *noises, *ROLES)}
        at = {n: define.attribute(n, type=k) for n, k in (
            ("block", Type.UINT64), ("position", Type.UINT64), ("level", Type.STRING), ("stressor", Type.STRING),
            ("role", Type.STRING))}
        planned, done = trace.event_writer_from_location(schedule), trace.event_writer_from_location(thread)
        pauses = list(c.pauses)
        for n, (block, place, on) in enumerate(c.slots):
            b, e = (ORIGIN + round((c.start + (n + k) * c.slot_ms) * MS) for k in (0, 1))
            planned.enter(b, regions[on or "quiet"], attributes={
                at["block"]: block, at["position"]: place, at["level"]: "", at["stressor"]: on or "quiet",
                at["role"]: ROLES.get(on, "treatment") if on else ""})
            planned.leave(e, regions[on or "quiet"])
            if on:
                done.enter(b, regions[on])
                while on == "control.pause" and pauses and ORIGIN + round(pauses[0][0] * MS) < e:
                    stop, go = pauses.pop(0)
                    done.enter(ORIGIN + round(stop * MS), regions["training stopped"])
                    done.leave(ORIGIN + round(go * MS), regions["training stopped"])
                done.leave(e, regions[on])


def write_run(run, c, rows, noises, design):
    (run / "train").mkdir(parents=True)
    (run / "noise" / "node.0").mkdir(parents=True)
    with open(run / "train" / "steps.csv", "w") as table:
        print("rank,step,begin_ns,end_ns,forward_ns,wait_exchange_ns,checkpoint_ns,control_delay_ns,"
              "control_settle_ns", file=table)
        for rank, step, b, e, *phases in rows:
            print(rank, step, ORIGIN + round(b * MS), ORIGIN + round(e * MS),
                  *(max(0, math.floor(p * MS) - 1) for p in phases), sep=",", file=table)
    write_noise(run / "noise" / "node.0" / "trace", c, noises, design)


def calm(p):
    return 1.0


def mem(c, percent, noise="mem"):
    return lambda p: 1 + percent / 100 * (c.on(p) == noise)


# ---- kinds: f(rng) -> clock, rows, {noise: truth in percent} [, noises, design, options]

def regimes(rng, order, harm, blocks=100, cv=0.02, slot=1000.0):
    """order: [(share of time, step ms)], one after the other by step NUMBER; harm: slowdown in percent by regime under
    mem."""
    c = Clock(draw_slots(rng, blocks, ("mem", "net", "io"), controls=PAUSED), slot).draw_pauses(rng)
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
    return c, rows, {"mem": sum(s / total * h for (s, _), h in zip(order, harm)), "net": 0.0, "io": 0.0}, \
        ("mem", "net", "io")


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
    c = Clock(draw_slots(rng, blocks, noises, controls=PAUSED), 1000.0).draw_pauses(rng)
    epoch = int((c.end - evaluations * length) / 20.0 / (evaluations + .5))
    def parts(i, now):
        w = [(20.0 * (1 + .02 * rng.standard_normal()), calm, False)]
        if i % epoch == epoch - 1:
            w.append((length * max(.2, 1 + cv * rng.standard_normal()), calm, False))
        return w
    return c, one_rank(c, parts), {n: 0.0 for n in noises}, noises


def few_evaluations_six(rng):
    """Six noises (or levels), 30 blocks = 5.5 min, evaluations of 2 s (+- 30 %); no noise harms."""
    return few_evaluations(rng, 4, 30, 2000.0, .3, tuple(f"n{k}" for k in range(6)))


def accumulation(rng, percent=50.0, extra=2.0, every=5, blocks=100, cv=0.02, slot=10):
    """Each fifth step has an exchange (or write) of two steps' length, which runs slower while mem is on."""
    c = Clock(draw_slots(rng, blocks), 20.0 * slot)
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
    c = Clock(draw_slots(rng, 40, fixed=fixed), 200.0)
    after = lambda p: 1 + .03 * (p > 0 and c.on(p - 1) == "net")
    return c, one_rank(c, lambda i, now: [(20.0 * (1 + .02 * rng.standard_normal()), after, False)]), \
        {"mem": 0.0, "net": 3.0}, ("mem", "net"), "sequence"


def few_debts(rng, debt=.03, checkpoints=10, blocks=60, length=3.0, cv=.02):
    """Each step under mem adds 3 % of a step (dirty pages) to the next of only ten checkpoints (phase, each 3
    steps)."""
    c, owed = Clock(draw_slots(rng, blocks), 200.0), [0.0]
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
    c, state = Clock(draw_slots(rng, blocks), 20.0 * slot), [0.0, every * rng.random()]
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


def one(program, kind, seed):
    """The result of one run: (trustworthy or None, verdict.json or the error, truths)."""
    clock, rows, truth, *more = KINDS[kind](np.random.default_rng([seed, *kind.encode()]))
    noises, design, options = [*more, *(("mem", "net"), "rotation", [])[len(more):]]
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch) / "run"
        write_run(run, clock, rows, noises, design)
        done = subprocess.run([program, "analyse", run, "--draws", "0", *options], capture_output=True, text=True)
        if not (run / "report" / "verdict.json").exists():
            return None, done.stderr.strip(), truth
        verdict = json.loads((run / "report" / "verdict.json").read_text())
        return verdict["trustworthy"], verdict, truth


def is_wrong(verdict, noise, truth):
    word, budget = verdict["factors"][noise]["verdict"], verdict["budget_percent"]
    return (word == "safe" and truth > budget) or (word == "unsafe" and truth < budget)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kind", nargs="*")
    parser.add_argument("--runs", type=int, default=20)
    asked = parser.parse_intermixed_args()
    failed = []
    for kind in asked.kind or KINDS:
        results = [one(asked.program, kind, seed) for seed in range(1, asked.runs + 1)]
        sure = [(verdict, truth) for trusted, verdict, truth in results if trusted]
        wrong = sum(any(is_wrong(verdict, *each) for each in truth.items()) for verdict, truth in sure)
        first = next(iter(results[0][2]))
        effects = [verdict["factors"][first] for verdict, _ in sure]
        held = sum(effect["low_percent"] <= truth[first] <= effect["high_percent"]
                   for effect, (_, truth) in zip(effects, sure))
        words = sorted({effect["verdict"] for effect in effects})
        said = ", ".join(f"{sum(effect['verdict'] == word for effect in effects)} {word}" for word in words)
        mean = np.mean([effect["effect_percent"] for effect in effects]) if effects else math.nan
        print(f"{kind}: true {results[0][2][first]:.2f} %, mean {mean:.2f}; {len(sure)} of {asked.runs} trustworthy: "
              f"{said}; intervals hold it in {held}; wrong {wrong}", flush=True)
        if wrong > 0.03 * len(sure) + 3 * math.sqrt(0.03 * 0.97 * len(sure)):
            failed.append(f"{kind}: {wrong} of {len(sure)} trustworthy reports are wrong")
        failed += [f"{kind}: no report: {text}" for trusted, text, _ in results if trusted is None][:1]
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
