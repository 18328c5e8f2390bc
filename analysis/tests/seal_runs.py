# SPDX-License-Identifier: Apache-2.0
"""Run directories of known truth (steps.csv, the archive of a noise by Python's otf2), and the study of what the real
program says of them. Shares no code with the estimator. Needs numpy and Debian's python3-otf2.
"""
import argparse
import collections
import json
import math
import multiprocessing
import pathlib
import subprocess
import sys

try:
    import _otf2
    import numpy
    import otf2
    from otf2.enums import LocationGroupType, LocationType, Type
except ImportError as missing:  # Debian packages them for its own Python only
    print(f"skipped: {missing} (python3-numpy, python3-otf2)", file=sys.stderr)
    sys.exit(77)

MS = 1_000_000
ORIGIN = 5_000_000_000_000  # ns
CONTROLS = {"placebo": "placebo", "control.delay": "delay", "control.sham": "sham"}

On = collections.namedtuple("On", "factor level role")


def draw_slots(random, treatments, blocks, quiet=None):
    """[(block, position, treatment or quiet)]: each treatment once in a block, in random order."""
    cell = [*treatments, *[quiet] * math.ceil(math.sqrt(len(treatments)))]
    return [(block, place, cell[i]) for block in range(blocks) for place, i in enumerate(random.permutation(len(cell)))]


class Clock:
    """Slots of slot_ms from `start` on; which treatment is on at a time; when work ends under a pace by slot."""
    def __init__(self, slots, slot_ms, start=600.0):
        self.slots, self.slot_ms, self.start = slots, slot_ms, start
        self.end = start + slot_ms * len(slots)
        self.pauses = []  # (begin, end), in order
        self.next_pause = 0

    def place(self, at):
        place = math.floor((at - self.start) / self.slot_ms)
        return place if 0 <= place < len(self.slots) else -1

    def on(self, place):
        return self.slots[place][2] if place >= 0 else None

    def until(self, at, work, pace):
        """When the work ends; pauses stop all work. Calls must be in the order of time."""
        while True:
            while self.next_pause < len(self.pauses) and self.pauses[self.next_pause][1] <= at:
                self.next_pause += 1
            stop, go = self.pauses[self.next_pause] if self.next_pause < len(self.pauses) else (math.inf, math.inf)
            if stop <= at:
                at = go
                continue
            place = self.place(at)
            border = self.start if at < self.start else math.inf if place < 0 else self.start + (place + 1) * self.slot_ms
            border = min(border, stop)
            factor = pace(place) if place >= 0 else 1.0
            if (border - at) / factor >= work:
                return at + work * factor
            work, at = work - (border - at) / factor, border


def calm(place):
    return 1.0


def control(clock, at, delay, settle):
    """ms of the known delay and of its settling in a step that begins then."""
    on = clock.on(clock.place(at))
    return delay if on == "control.delay" else 0.0, settle if on in ("control.delay", "control.sham") else 0.0


def with_roles(slots, roles):
    """The slots for write_noise(): a name without a role is a treatment."""
    return [(block, place, (On(on, "", roles.get(on, "treatment")),) if on else ()) for block, place, on in slots]


def write_noise(folder, slots, start, slot_ms, design="rotation", host="node", factors=(), pauses=()):
    """slots: [(block, position, (On, ..))]; factors: all in their order, else as they come; pauses: of a training."""
    factors = list(factors) or list(dict.fromkeys(on.factor for _, _, slot in slots for on in slot))
    pauses = list(pauses)
    with otf2.writer.open(str(folder), timer_resolution=10**9) as trace:
        for key, value in (("DESIGN", design), ("SCHEDULE", design + "(simulated)"), ("SEED", "1"),
                           ("FACTORS", ",".join(factors))):
            _otf2.Archive_SetProperty(trace.handle, "CROSSTALK::" + key, value, True)
        define = trace.definitions
        node = define.system_tree_node(host, "node", parent=define.system_tree_node("machine", "machine"))
        group = define.location_group("noise", location_group_type=LocationGroupType.PROCESS, system_tree_parent=node)
        location = lambda name: trace.event_writer_from_location(
            define.location(name, type=LocationType.CPU_THREAD, group=group))
        planned = location("schedule")
        threads = [location(f"cpu {cpu + 1}") for cpu in range(len(factors) if design == "factorial" else 1)]
        regions = {name: define.region(name) for name in ("quiet", "training stopped", *factors)}
        at = {name: define.attribute(name, type=kind) for name, kind in (
            ("block", Type.UINT64), ("position", Type.UINT64), ("level", Type.STRING), ("stressor", Type.STRING),
            ("role", Type.STRING))}
        for number, (block, place, slot) in enumerate(slots):
            begin, end = (ORIGIN + round((start + (number + k) * slot_ms) * MS) for k in (0, 1))
            shown = slot or (On("quiet", "", ""),)
            for on in shown:
                planned.enter(begin, regions[on.factor], attributes={
                    at["block"]: block, at["position"]: place, at["level"]: on.level, at["stressor"]: on.factor,
                    at["role"]: on.role})
            for on in reversed(shown):
                planned.leave(end, regions[on.factor])
            for on in slot:
                thread = threads[factors.index(on.factor) % len(threads)]
                thread.enter(begin, regions[on.factor])
                while on.role == "pause" and pauses and ORIGIN + round(pauses[0][0] * MS) < end:
                    stop, go = pauses.pop(0)
                    thread.enter(ORIGIN + round(stop * MS), regions["training stopped"])
                    thread.leave(ORIGIN + round(go * MS), regions["training stopped"])
                thread.leave(end, regions[on.factor])


PHASES = ("forward", "wait_exchange", "checkpoint", "control_delay", "control_settle")


def write_steps(run, rows, phases=PHASES, hosts=()):
    """rows: rank, step, begin, end and the phases, in ms; with hosts, a rank is on the host of its place."""
    (run / "train").mkdir(parents=True)
    with open(run / "train" / "steps.csv", "w") as table:
        print("rank,step,begin_ns,end_ns", *(f"{phase}_ns" for phase in phases), *["host"] * bool(hosts), sep=",",
              file=table)
        for rank, step, begin, end, *lengths in rows:
            print(rank, step, ORIGIN + round(begin * MS), ORIGIN + round(end * MS),
                  *(max(0, math.floor(length * MS) - 1) for length in lengths), *([hosts[rank]] if hosts else []), sep=",",
                  file=table)


def analyse(program, runs, report, *options):
    """verdict.json of the runs, or the error."""
    done = subprocess.run([program, "analyse", *runs, "--draws", "0", "--out", report, *options], capture_output=True,
                          text=True)
    verdict = report / "verdict.json"
    return json.loads(verdict.read_text()) if verdict.exists() else done.stderr.strip() or done.stdout


def judged(verdict):
    """The verdicts: {(factor, level): verdict}."""
    return {(factor, level): one for factor, of in verdict["factors"].items()
            for level, one in (of.get("levels") or {"": of}).items()}


def is_wrong(word, truth, budget):
    return (word == "safe" and truth > budget) or (word == "unsafe" and truth < budget)


def by_chance(share, runs):
    """Three standard errors of a share of so many runs."""
    return 3 * math.sqrt(runs * share * (1 - share))


def arguments(text, runs):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kind", nargs="*")
    parser.add_argument("--runs", type=int, default=runs)
    return parser.parse_intermixed_args()


def end(failed):
    for line in failed:
        print(line, file=sys.stderr)
    return 1 if failed else 0


def study(text, kinds, one):
    """Fails where more than 3 % of a kind's trustworthy reports are wrong (and what chance adds).
    one((program, kind, seed)): verdict.json or the error, {(factor, level): truth in percent}, what is wrong beside it.
    """
    asked = arguments(text, 20)
    failed = []
    with multiprocessing.Pool() as pool:
        for kind in asked.kind or kinds:
            words, wrong, sure = collections.Counter(), 0, 0
            got = pool.map(one, [(asked.program, kind, seed) for seed in range(1, asked.runs + 1)])
            for seed, (verdict, truth, more) in enumerate(got, 1):
                if isinstance(verdict, str):
                    failed.append(f"{kind}: no report: {verdict}")
                    continue
                failed += [f"{kind}, seed {seed}: {what}" for what in more]
                if not verdict["trustworthy"]:
                    continue
                said = {which: each["verdict"] for which, each in judged(verdict).items() if which in truth}
                sure += 1
                words += collections.Counter(said.values())
                wrong += any(is_wrong(word, truth[which], verdict["budget_percent"]) for which, word in said.items())
            print(f"{kind}: {sure} of {asked.runs} trustworthy, wrong {wrong}; verdicts "
                  f"{', '.join(f'{count} {word}' for word, count in words.most_common()) or 'none'}", flush=True)
            if wrong > 0.03 * sure + by_chance(0.03, sure):
                failed.append(f"{kind}: {wrong} of {sure} trustworthy reports are wrong")
    return end(failed)
