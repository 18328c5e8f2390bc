# SPDX-License-Identifier: Apache-2.0
"""Trainings whose harm by noise lies where an estimator may miss it; seal_study.py writes and analyses them."""
import math

from seal_runs import CONTROLS, Clock, control, draw_slots

NOISES = ("mem", "net")
STEP = 20.0  # ms


class Training(Clock):
    """Steps in slots of `slot` steps. A step is f(training, number, under mem) -> (number in the table, length, time
    beyond it, whether it is a checkpoint); times in quiet steps."""

    def __init__(self, random, blocks, slot, spread=0.02, delay=1.0):
        self.random, self.spread, self.delay, self.settle = random, spread, delay, 0.8 * delay
        super().__init__(draw_slots(random, [*NOISES, *CONTROLS], blocks), STEP * slot)

    def rows(self, step, pace):
        rows, now, number = [], 0.0, 0
        while now < self.end - 2 * STEP:
            on = self.on(self.place(now))
            delay, settle = control(self, now, self.delay, self.settle)
            shown, length, beyond, checkpoint = step(self, number, on == "mem", now)
            begin = now + settle + delay + STEP * beyond
            work = STEP * length * max(0.2, 1 + self.spread * self.random.standard_normal())
            end = self.until(begin, work, pace)
            rows.append((0, shown, now, end, end - begin, 0.0, STEP * beyond if checkpoint else 0.0, delay, settle))
            now, number = end, number + 1
        return rows


def slowed(training, percent):
    return lambda place: 1 + percent / 100 * (training.on(place) == "mem")


def epochs(random):
    """Step numbers jump after each epoch of 25 steps, whose last step has a validation that mem doubles."""
    training = Training(random, 30, 10)
    return training, training.rows(
        lambda _, i, mem, now: (i // 25 * 1000 + i % 25, 1, (8.0 if mem else 4.0) if i % 25 == 24 else 0.0, False),
        slowed(training, 0))


def fewer_accidents(random):
    """Accidents happen except under mem, which slows all steps by 3 %."""
    training = Training(random, 60, 10)
    return training, training.rows(
        lambda t, i, mem, now: (i, 1, 2.5 if not mem and t.random.random() < 0.02 else 0.0, False), slowed(training, 3))


def checkpoints_oftener(random):
    """Checkpoints by time, a quarter more often under mem."""
    training, due = Training(random, 30, 10), [0.0]

    def step(_, i, mem, now):
        due[0] += (1.25 if mem else 1.0) / 25
        saves = due[0] >= 1
        due[0] -= saves
        return i, 1, 4.0 * saves, saves

    return training, training.rows(step, slowed(training, 0))


def checkpoints_skipped(random):
    """Half of the checkpoints are skipped under mem, which slows all steps by 5 %."""
    training = Training(random, 60, 10)

    def step(t, i, mem, now):
        saves = i % 25 == 24 and not (mem and t.random.random() < 0.5)
        return i, 1, 4.0 * saves, saves

    return training, training.rows(step, slowed(training, 5))


def debts(random):
    """Each step under mem adds 5 % of a step to the next checkpoint, in whatever slot that is."""
    training, debt = Training(random, 100, 10), [0.0]

    def step(_, i, mem, now):
        debt[0] += 0.05 * mem
        if i % 50 != 49:
            return i, 1, 0.0, False
        beyond, debt[0] = 4.0 + debt[0], 0.0
        return i, 1, beyond, True

    return training, training.rows(step, slowed(training, 0))


def hidden_remains(random):
    """The effect of mem lasts for three slots; that of net for one slot, but is larger."""
    training = Training(random, 100, 10)
    on = training.on
    return training, training.rows(
        lambda _, i, mem, now: (i, 1, 0.0, False),
        lambda place: (1 + 0.001 * (on(place) == "mem") + 0.004 * sum(on(place - j) == "mem" for j in (1, 2, 3))
                       + 0.03 * (on(place - 1) == "net")))


def slots_differ(random):
    """A fifth of the steps is longer by a random amount that all steps of a slot share; mem adds 7.2 % to it."""
    training, by_slot = Training(random, 60, 50), {}

    def step(t, i, mem, now):
        if i % 5 != 4:
            return i, 1, 0.0, False
        chance = by_slot.setdefault(t.place(now), math.exp(0.5 * t.random.standard_normal() - 0.125))
        return i, 1, chance * (1 + 0.072 * mem), True

    return training, training.rows(step, slowed(training, 0))


def two_lengths(random):
    """Steps of 15 and 25 ms in pairs of random order; mem slows all of them by 1.1 %."""
    training, order = Training(random, 400, 10), []

    def step(t, i, mem, now):
        if not order:
            order.extend((0.75, 1.25) if t.random.random() < 0.5 else (1.25, 0.75))
        return i, order.pop(), 0.0, False

    return training, training.rows(step, slowed(training, 1.1))


def two_blocks(random):
    """Two blocks: mem slows steps by 0.3 %, and by 5 % in the slot after it."""
    training = Training(random, 2, 200, 0.01)
    on = training.on
    return training, training.rows(
        lambda _, i, mem, now: (i, 1, 0.0, False),
        lambda place: 1 + 0.003 * (on(place) == "mem") + 0.05 * (place > 0 and on(place - 1) == "mem"))


def plain(t, i, mem, now):
    return i, 1, 0.0, False


def state_stays(random, blocks=100, percent=0.75):
    """Cold cache: steps are slower under mem and in the slot after it (until the cache is warm again), but mem after
    mem adds nothing, because a cold cache gets no colder. Truth = percent."""
    t = Training(random, blocks, 10)
    on = t.on
    return t, t.rows(plain, lambda p: 1 + percent / 100 * (on(p) == "mem" or (p > 0 and on(p - 1) == "mem")))


def state3(random, blocks=100, percent=0.4):
    """The same for three slots after mem. Truth = percent."""
    t = Training(random, blocks, 10)
    on = t.on
    return t, t.rows(plain, lambda p: 1 + percent / 100 * any(p >= j and on(p - j) == "mem" for j in range(4)))


def somewhat_fewer_accidents(random, blocks=60, rate=0.02, length=2.0, less=0.5, percent=2.5):
    """Accidents (2 % of steps, two steps long) are half as frequent under mem, whose ordinary steps are slower."""
    t = Training(random, blocks, 10)
    return t, t.rows(lambda t, i, mem, now: (
        i, 1, length * (t.random.random() < rate * (less if mem else 1)), False), slowed(t, percent))


def somewhat_fewer_checkpoints(random, blocks=60, every=50, length=4.0, less=0.7, percent=3.0):
    """Checkpoints by time or by event (phase, random), 30 % rarer under mem, whose ordinary steps are slower."""
    t = Training(random, blocks, 10)

    def step(t, i, mem, now):
        saves = t.random.random() < (less if mem else 1) / every
        return i, 1, length * saves, saves

    return t, t.rows(step, slowed(t, percent))


def vague_debts(random, blocks=60, every=200, length=8.0, spread=1.0, debt=0.03):
    """Each step under mem adds 3 % of a step to the next checkpoint (every 200 steps, which take 8 +- 1 steps)."""
    t, owed = Training(random, blocks, 10), [0.0]

    def step(t, i, mem, now):
        owed[0] += debt * mem
        if i % every != every - 1:
            return i, 1, 0.0, False
        beyond, owed[0] = max(1.0, length + spread * t.random.standard_normal()) + owed[0], 0.0
        return i, 1, beyond, True

    return t, t.rows(step, slowed(t, 0))


def checkpoint_after(random, blocks=120, every=100, length=8.0, more=0.4, spread=0.05):
    """A checkpoint (every 100 steps, 8 steps long) takes 40 % longer in the slot after mem (dirty pages), and in a slot
    of mem that follows mem, but not in the first slot of mem."""
    t = Training(random, blocks, 10)

    def step(t, i, mem, now):
        if i % every != every - 1:
            return i, 1, 0.0, False
        p = t.place(now)
        after = p > 0 and t.on(p - 1) == "mem"
        return i, 1, length * (1 + spread * t.random.standard_normal()) * (1 + more * after), True

    return t, t.rows(step, slowed(t, 0))


def steps_that_wait(random, every=7, percent=1.15):
    """Work is queued: rows of 2 ms, each seventh of which waits for all work queued before it; mem slows all work."""
    t = Training(random, 200, 10, delay=0.3)
    rows, queued = t.rows(plain, slowed(t, percent)), []
    for first in range(0, len(rows) - every + 1, every):
        at, done = rows[first][2], rows[first + every - 1][3]
        for place in range(every):
            _, number, *_, delay, settle = rows[first + place]
            end = at + 2.0 if place < every - 1 else done
            queued.append((0, number, at, end, 0.9 * (end - at - delay - settle), 0.0, 0.0, delay, settle))
            at = end
    return t, queued


def one_evaluation(random, after=5500, length=2000, harm=0.06):
    """One evaluation between steps, as long as a quarter of the run, is a little slower while mem is on."""
    t = Training(random, 100, 10)
    rows, now = [], 0.0
    while now < t.end - 2 * STEP:
        delay, settle = control(t, now, t.delay, t.settle)
        work = STEP * (1 + t.spread * random.standard_normal())
        rows.append((0, len(rows), now, now + delay + settle + work, work, 0.0, 0.0, delay, settle))
        now = rows[-1][3]
        if len(rows) == after:
            now = t.until(now, length * STEP, slowed(t, 100 * harm))
    return t, rows


def unlabelled_checkpoints(random):
    """Random checkpoints, whose phase is not recorded under mem; mem does nothing else."""
    t = Training(random, 100, 10)
    rows = t.rows(lambda t, i, mem, now: (i, 1, 4.0 * (t.random.random() < 0.04), True), slowed(t, 0))
    return t, [(*row[:6], 0.0, *row[7:]) if t.on(t.place(row[2])) == "mem" else row for row in rows]


def writes_above_a_threshold(random):
    """A fifth of the steps writes for a fifth of a step, which the phase shows from 0.18 on; under mem writes take 40 %
    less, and ordinary work 2 % more."""
    t = Training(random, 200, 10)

    def step(t, i, mem, now):
        write = 0.2 * (1 + 0.15 * t.random.standard_normal()) * (0.6 if mem else 1) * (t.random.random() < 0.2)
        return i, 1, write, write > 0.18

    return t, t.rows(step, slowed(t, 2.0))


# By name: the training, and its slowdown in percent if mem were on all the time.
ATTACKS = {
    "numbers leap with each epoch": (epochs, 100 * 4 / 29),
    "fewer accidents beside the noise": (fewer_accidents, 100 * (1.03 / 1.05 - 1)),
    "checkpoints a quarter more often": (checkpoints_oftener, 100 * 0.04 / 1.16),
    "half of the checkpoints skipped": (checkpoints_skipped, 100 * (1.13 / 1.16 - 1)),
    "debts that the next checkpoint pays": (debts, 100 * 2.5 / 54),
    "one noise hides what another leaves": (hidden_remains, 1.3),
    "long steps alike within a slot": (slots_differ, 100 * 0.072 * 0.2 / 1.2),
    "steps of two lengths": (two_lengths, 1.1),
    "two blocks": (two_blocks, 5.3),
    "a state that stays for a slot": (state_stays, 0.75),
    "a state that stays for three slots": (state3, 0.4),
    "accidents half as frequent": (somewhat_fewer_accidents, 100 * (1.045 / 1.04 - 1)),
    "checkpoints a third rarer": (somewhat_fewer_checkpoints, 100 * (1.086 / 1.08 - 1)),
    "debts that vary": (vague_debts, 100 * 6 / 208),
    "checkpoints longer in the slot after": (checkpoint_after, 100 * 3.2 / 108),
    "steps that wait for others": (steps_that_wait, 1.15),
    "one evaluation that began elsewhere": (one_evaluation, 100 * 0.06 * 2000 / 7500),
    "checkpoints without a label": (unlabelled_checkpoints, 0.0),
    "writes above a threshold": (writes_above_a_threshold, 100 * (1.044 / 1.04 - 1)),
}
