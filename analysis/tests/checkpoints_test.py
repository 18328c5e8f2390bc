#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""interference checkpoints finds what saves of a known cost cost, and how often to write them.

    checkpoints_test.py INTERFERENCE [TEST..]

Runs are written here (steps.csv, checkpoints.csv, a noise archive by Python's otf2) by a simulation in which a save
holds the training, and an asynchronous one slows its steps while it is written. The expected cost of an interval is
compared with 10,000 simulated trainings whose failures are exponential. Exit code 77 without numpy or otf2."""
import csv
import itertools
import json
import math
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

ORIGIN = 7_000_000_000_000  # ns
START = 5.0  # s from the first step to the first slot
STEP = 0.05  # s
HEAD = "step,rank,format,content,by,mode,fsync,begin_ns,stall_ns,copy_ns,write_ns,sync_ns,bytes"
BYTES = 90_000_000
program = ""


def ns(seconds):
    return ORIGIN + round(seconds * 1e9)


def checkpoints(*words):
    return subprocess.run([program, "checkpoints", *map(str, words)], capture_output=True, text=True)


def groups(*words):
    """The groups of the report by (mode, noise), and the report."""
    done = checkpoints(*words, "--format", "json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    return {(group["mode"], group["noise"]): group for group in report["groups"]}, report


def write_noise(folder, slots, slot_s, design):
    """slots: (block, position, factor, stressor, level); a factor of none is quiet."""
    with otf2.writer.open(str(folder / "trace"), timer_resolution=10**9) as trace:
        factors = sorted({factor for _, _, factor, _, _ in slots if factor})
        for key, value in (("DESIGN", design), ("SCHEDULE", "simulated"), ("SEED", "1"), ("FACTORS", ",".join(factors))):
            _otf2.Archive_SetProperty(trace.handle, "CROSSTALK::" + key, value, True)
        define = trace.definitions
        machine = define.system_tree_node("machine", "machine")
        node = define.system_tree_node("node", "node", parent=machine)
        group = define.location_group("noise", location_group_type=LocationGroupType.PROCESS, system_tree_parent=node)
        schedule = define.location("schedule", type=LocationType.CPU_THREAD, group=group)
        thread = define.location("cpu 3", type=LocationType.CPU_THREAD, group=group)
        regions = {name: define.region(name) for name in ("quiet", *factors)}
        attributes = {name: define.attribute(name, type=kind)
                      for name, kind in (("block", Type.UINT64), ("position", Type.UINT64), ("level", Type.STRING),
                                         ("stressor", Type.STRING), ("role", Type.STRING))}
        planned = trace.event_writer_from_location(schedule)
        done = trace.event_writer_from_location(thread)
        for number, (block, place, factor, stressor, level) in enumerate(slots):
            begin, end = ns(START + number * slot_s), ns(START + (number + 1) * slot_s)
            values = {attributes["block"]: block, attributes["position"]: place, attributes["level"]: level,
                      attributes["stressor"]: stressor, attributes["role"]: "treatment" if factor else ""}
            planned.enter(begin, regions[factor or "quiet"], attributes=values)
            planned.leave(end, regions[factor or "quiet"])
            if factor:
                done.enter(begin, regions[factor])
                done.leave(end, regions[factor])


class Run:
    """A simulated training of one rank; save(step, now) returns (mode, stall, copy, write) of a save due after it."""

    def __init__(self, random, folder, length_s, save, noise=lambda now: None, slow=lambda noise: 0.0,
                 slow_between=lambda noise: 0.0, spread=0.01):
        self.saves, self.steps = [], []  # saves: dicts with what was true
        now, busy_until, number = 0.0, -1.0, 0
        while now < length_s:
            begin = now
            work = STEP * (1 + slow(noise(now))) * (1 + spread * random.standard_normal())
            between = slow_between(noise(now))
            # Work during a save takes (1 + between) as long.
            covered = min(work, max(0.0, busy_until - now) / (1 + between))
            now += work + covered * between
            if self.saves:
                self.saves[-1]["extra"] += covered * between
            due = save(number, now)
            stall = 0.0
            if due:
                mode, stall, copy, write = due
                end = now + stall + (write if mode == "async" else 0.0)
                self.saves.append({"step": number + 1, "mode": mode, "begin": now, "stall": stall, "copy": copy,
                                   "write": write, "end": end, "extra": 0.0, "noise": self.noise_of(noise, now, end)})
                busy_until = end if mode == "async" else -1.0
                now += stall
            self.steps.append((number, begin, now, stall))
            number += 1
        train = folder / "train"
        train.mkdir(parents=True)
        with open(train / "steps.csv", "w") as table:
            print("rank,step,begin_ns,end_ns,forward_ns,checkpoint_ns", file=table)
            for step, begin, end, held in self.steps:
                checkpoint = max(0, round(held * 1e9) - 2)
                print(0, step, ns(begin), ns(end), max(0, ns(end) - ns(begin) - checkpoint - 2), checkpoint, sep=",",
                      file=table)
        with open(train / "checkpoints.csv", "w") as table:
            print(HEAD, file=table)
            for one in self.saves:
                form = "hdf5" if one["mode"] == "sync" else "raw"
                print(one["step"], 0, form, "training", "rank0", one["mode"], "yes", ns(one["begin"]),
                      *(round(one[part] * 1e9) for part in ("stall", "copy", "write")), 0, BYTES, sep=",", file=table)

    @staticmethod
    def noise_of(noise, begin, end):
        found = {noise(begin + (end - begin) * share / 200) or "quiet" for share in range(200)}
        return found.pop() if len(found) == 1 else "several noises"

    def true(self, noise, part):
        values = [one[part] for one in self.saves if one["noise"] == noise]
        return sum(values) / len(values)


def check_inside(group, name, truth):
    low, high = group[f"{name}_low_s"], group[f"{name}_high_s"]
    assert low <= truth <= high, f"{name} {low} to {high}, truth {truth}"


def noisy_pair(folder, random):
    """A run of synchronous and one of asynchronous saves, each beside io.write in half of its slots."""
    slot_s, count = 20.0, 24
    order = [bool(on) for block in range(count // 2) for on in random.permutation([0, 1])]

    def noise(now):
        place = math.floor((now - START) / slot_s)
        return "io.write" if 0 <= place < count and order[place] else None

    slow = {None: 0.0, "io.write": 0.05}
    runs = {}
    for mode, every in (("sync", 50), ("async", 50)):
        def save(step, now, mode=mode, every=every):
            if step % every != every - 1:
                return None
            longer = 3.0 if noise(now) else 1.0
            part = longer * 0.2 * (1 + 0.1 * random.standard_normal())
            return ("sync", part, 0.0, part) if mode == "sync" else ("async", 0.02, 0.02, 2 * part)
        runs[mode] = Run(random, folder / mode, START + slot_s * count - 2.0, save, noise, slow.get,
                         {None: 0.05, "io.write": 0.12}.get)
        (folder / mode / "noise" / "node.0").mkdir(parents=True)
        write_noise(folder / mode / "noise" / "node.0",
                    [(s // 2, s % 2, "io.write" if on else None, "io.write" if on else "", "")
                     for s, on in enumerate(order)], slot_s, "rotation")
    return runs


def known_costs(scratch):
    """stalls, the steps between and the intervals are those that were simulated, in quiet and beside a noise"""
    random = numpy.random.default_rng(4)
    runs = noisy_pair(scratch, random)
    found, report = groups(scratch / "sync", scratch / "async", "--mtbf", "24h", "--out", scratch / "out")
    for mode, run in runs.items():
        for noise in ("quiet", "io.write", "several noises"):
            count = sum(one["noise"] == noise for one in run.saves)
            assert (mode, noise) in found or count == 0, (mode, noise)
            if count == 0:
                continue
            group = found[mode, noise]
            assert group["saves"] == count, (mode, noise, group["saves"], count)
            assert math.isclose(group["stall_s"], run.true(noise, "stall"), rel_tol=1e-6), group
            assert math.isclose(group["write_s"], run.true(noise, "write"), rel_tol=1e-6), group
            assert math.isclose(group["bytes_per_s"], BYTES / run.true(noise, "write"), rel_tol=1e-6)
    assert sum(group["saves"] for group in found.values()) == sum(len(run.saves) for run in runs.values())
    for noise, true_percent in (("quiet", 5.0), ("io.write", 12.0)):
        group = found["async", noise]
        assert group["between_by"] == "pairs" and group["pairs"] >= 0.7 * group["saves"], group
        check_inside(group, "between", runs["async"].true(noise, "extra"))
        # The last step is covered in part only.
        assert 0.6 * true_percent < group["between_percent"] < 1.1 * true_percent, group["between_percent"]
        cost = group["stall_s"] + group["between_s"]
        assert math.isclose(group["cost_s"], cost, rel_tol=1e-9)
        assert math.isclose(group["daly_s"], daly(cost, 86400), rel_tol=1e-9)
        assert found["sync", noise]["between_s"] is None
    assert "sync hdf5: every" in report["answer"] and "beside io.write every" in report["answer"], report["answer"]
    out = scratch / "out"
    rows = list(csv.DictReader(open(out / "groups.csv")))
    assert len(rows) == len(found) and {row["noise"] for row in rows} >= {"quiet", "io.write"}
    saves = list(csv.DictReader(open(out / "saves.csv")))
    assert len(saves) == sum(len(run.saves) for run in runs.values())
    assert (out / "index.html").exists() and (out / "cost.gp").exists() and (out / "cost.csv").exists()
    text = checkpoints(scratch / "sync", scratch / "async", "--mtbf", "24h", "--budget", "1%")
    assert text.returncode == 0 and "checkpoints within 1 %" in text.stdout, text
    markdown = checkpoints(scratch / "async", "--mtbf", "24h", "--format", "md")
    assert markdown.returncode == 0 and "| Setting |" in markdown.stdout, markdown


def restarts(scratch):
    """a restart takes what its slowest rank took, and its time is that of Daly's model, under its noise or else in quiet"""
    runs = noisy_pair(scratch, numpy.random.default_rng(6))
    noisy = [one for one in runs["sync"].saves if one["noise"] == "io.write"]

    def write(mode, form, times):
        """times: for each restart its start in s, and verify and read of rank 0; rank 1 reads 2 s longer."""
        with open(scratch / mode / "train/restarts.csv", "w") as table:
            print("step,rank,format,content,by,begin_ns,verify_ns,read_ns,end_ns,bytes", file=table)
            for begin, verify, read in times:
                for rank in range(2):
                    print(100, rank, form, "training", "rank0", ns(begin), 0 if rank else round(verify * 1e9),
                          round((read + 2 * rank) * 1e9), ns(begin + 0.01), 1000 + rank, sep=",", file=table)

    write("sync", "hdf5", [(1.0, 3, 5), (2.0, 5, 7), (noisy[0]["begin"], 30, 18), (noisy[1]["begin"], 40, 28)])
    write("async", "raw", [(1.0, 1, 1)])
    found, report = groups(scratch / "sync", scratch / "async", "--mtbf", "24h", "--out", scratch / "out")
    for key, seconds, by in ((("sync", "quiet"), 12, "restarts"), (("sync", "io.write"), 60, "restarts"),
                             (("async", "quiet"), 4, "restarts"), (("async", "io.write"), 4, "quiet restarts")):
        assert math.isclose(found[key]["restart_s"], seconds) and found[key]["restart_by"] == by, (key, found[key])
    group = found["sync", "io.write"]
    whole = 86400 * math.exp(60 / 86400) * math.expm1((group["daly_s"] + group["cost_s"]) / 86400)
    lost = group["checkpoints_percent"] + group["rework_percent"] + group["restarts_percent"]
    assert math.isclose(lost / 100, 1 - group["daly_s"] / whole, rel_tol=1e-6), (lost, whole)
    taken = {(one["checkpoint_format"], one["noise"]): one for one in report["restarts"]}
    assert set(taken) == {("hdf5", "quiet"), ("hdf5", "io.write"), ("raw", "quiet")}, set(taken)
    quiet = taken["hdf5", "quiet"]
    assert (quiet["restarts"], quiet["verify_s"], quiet["read_s"], quiet["bytes"]) == (2, 4, 8, 2001), quiet
    assert math.isclose(quiet["restart_low_s"], 12 - 12.706 * 2, rel_tol=1e-3), quiet  # t of one degree of freedom, sd / sqrt 2
    assert taken["raw", "quiet"]["restart_low_s"] is None
    assert len(list(csv.DictReader(open(scratch / "out/restart_times.csv")))) == 3
    text = checkpoints(scratch / "sync", "--mtbf", "24h")
    assert text.returncode == 0 and "What a restart takes" in text.stdout, text
    given, _ = groups(scratch / "sync", "--mtbf", "24h", "--restart", "5min")
    assert given["sync", "quiet"]["restart_s"] == 300 and given["sync", "quiet"]["restart_by"] == "given"


def requested(scratch):
    """randomised requests for checkpoints give the design's estimate of the steps between"""
    random = numpy.random.default_rng(9)
    slot_s, blocks = 3.0, 40
    kinds = ["mode=sync", "mode=async", "", ""]
    order = [kinds[k] for _ in range(blocks) for k in random.permutation(4)]
    asked = set()

    def save(_, now):
        place = math.floor((now - START) / slot_s)
        if not 0 <= place < len(order) or place in asked or not order[place]:
            return None
        asked.add(place)
        return ("sync", 0.2, 0.0, 0.2) if order[place] == "mode=sync" else ("async", 0.02, 0.02, 1.0)

    run = Run(random, scratch / "run", START + slot_s * len(order) - 1.0, save, slow_between=lambda _: 0.10)
    (scratch / "run/noise/node.0").mkdir(parents=True)
    write_noise(scratch / "run/noise/node.0",
                [(s // 4, s % 4, "job.checkpoint" if level else None, "job.checkpoint" if level else "", level)
                 for s, level in enumerate(order)], slot_s, "rotation")
    found, _ = groups(scratch / "run", "--mtbf", "24h")
    assert set(found) == {("sync", "quiet"), ("async", "quiet")}, set(found)
    group = found["async", "quiet"]
    assert group["between_by"] == "design", group
    true = sum(one["extra"] for one in run.saves if one["mode"] == "async") / blocks
    check_inside(group, "between", true)
    assert abs(group["between_s"] - true) < 0.2 * true, (group["between_s"], true)


def daly(cost, mtbf):
    """Daly 2006: the estimate of higher order."""
    if cost >= 2 * mtbf:
        return mtbf
    x = cost / (2 * mtbf)
    return math.sqrt(2 * cost * mtbf) * (1 + math.sqrt(x) / 3 + x / 9) - cost


def elapsed(interval, cost, mtbf, restart, gaps):
    """Elapsed times of simulated trainings, of ten times the mean time between failures of work. gaps: times to the next
    failure, a row for each training."""
    work = 10 * mtbf
    trainings = gaps.shape[0]
    now, done = numpy.zeros(trainings), numpy.zeros(trainings)
    failure, failures = gaps[:, 0].copy(), numpy.zeros(trainings, dtype=int)
    active = numpy.arange(trainings)
    while active.size:
        piece = numpy.minimum(interval, work - done[active])
        end = now[active] + piece + cost
        fails = failure[active] < end
        fine, failed = active[~fails], active[fails]
        now[fine] = end[~fails]
        done[fine] += piece[~fails]
        while failed.size:  # a restart may fail, too
            now[failed] = failure[failed]
            failures[failed] += 1
            failure[failed] = now[failed] + gaps[failed, failures[failed]]
            again = failure[failed] < now[failed] + restart
            now[failed[~again]] += restart
            failed = failed[again]
        active = active[done[active] < work - 1e-9]
    return now, work


def simulated(scratch):
    """Daly's interval loses as little as the best of 10,000 simulated trainings, and as much as the report says"""
    for number, (cost, mtbf, young_s, daly_s) in enumerate(((60, 86400, 3220, 3180), (30, 21600, 1138, 1119))):
        folder = scratch / f"run-of-{cost}"
        steps = itertools.count()
        Run(numpy.random.default_rng(1), folder, 500.0,
            lambda step, _: ("sync", float(cost), 0.0, float(cost)) if step % 20 == 19 else None)
        restart = 300
        found, _ = groups(folder, "--mtbf", f"{mtbf}s", "--restart", f"{restart}s")
        group = found["sync", "quiet"]
        assert round(group["young_s"]) == young_s and round(group["daly_s"]) == daly_s, group
        gaps = numpy.random.default_rng(100 + number).exponential(mtbf, (10_000, 60))
        lost = {}
        for factor in numpy.exp2(numpy.arange(-4, 5) / 4):
            times, work = elapsed(factor * daly(cost, mtbf), cost, mtbf, restart, gaps)
            lost[float(factor)] = 1 - work / times.mean()
        best, at_daly = min(lost.values()), lost[1.0]
        said = group["checkpoints_percent"] + group["rework_percent"] + group["restarts_percent"]
        print(f"C {cost} s, MTBF {mtbf} s: {100 * at_daly:.3f} % lost at Daly's interval, best {100 * best:.3f} %, "
              f"report {said:.3f} %")
        assert at_daly <= 1.01 * best, (at_daly, best)
        assert abs(said / 100 - at_daly) < 0.01 * at_daly, (said, at_daly)
        for point in group["curve"]:
            for factor, share in lost.items():
                if math.isclose(point["interval_s"], factor * group["daly_s"], rel_tol=1e-6):
                    assert abs(point["lost_percent"] / 100 - share) < 0.015 * share, (point, share)


def refused(scratch):
    """what allows no answer is one line and an exit code, and complete rows of a table that is cut off count"""
    folder = scratch / "run"
    Run(numpy.random.default_rng(2), folder, 30.0,
        lambda step, _: ("sync", 0.1, 0.0, 0.1) if step % 50 == 49 else None)
    saves = folder / "train/checkpoints.csv"
    text = saves.read_text()
    rows = text.count("\n") - 1

    def fails(code, words, *arguments):
        done = checkpoints(*arguments)
        assert done.returncode == code and done.stderr.count("\n") == 1 and words in done.stderr, (words, done)
        return done

    for mtbf in ("soon", "0s", "-3h", "24"):
        fails(2, "--mtbf", folder, f"--mtbf={mtbf}")
    fails(2, "--mtbf", folder)
    fails(2, "--budget", folder, "--mtbf", "1h", "--budget", "100%")
    fails(2, "already there", folder, "--mtbf", "1h", "--out", folder)
    fails(1, "there is no directory", scratch / "none", "--mtbf", "1h")
    saves.write_text(text[:-9])
    done = fails(3, f"its {rows - 1} complete rows count", folder, "--mtbf", "1h", "--format", "json")
    assert json.loads(done.stdout)["groups"][0]["saves"] == rows - 1
    for wrong, right in (("later,yes", "sync,yes"), ("-5,", f"{BYTES}\n"), ("50,0,hdf5,all", "50,0,hdf5")):
        saves.write_text(text.replace(right, wrong, 1))
        fails(1, "checkpoints.csv line 2", folder, "--mtbf", "1h")
    saves.write_text(HEAD + "\n")
    fails(1, "no run has a checkpoint", folder, "--mtbf", "1h")
    saves.unlink()
    fails(1, "no run has a checkpoint", folder, "--mtbf", "1h")
    saves.write_text(text)
    (folder / "train/steps.csv").write_text("rank,step,begin_ns,end_ns\n")
    fails(1, "holds no complete step", folder, "--mtbf", "1h")
    (folder / "train/steps.csv").unlink()
    fails(1, "not a run of a training", folder, "--mtbf", "1h")


def parts_of_ranks(scratch):
    """a sharded save is one save: the slowest rank's stall and the bytes of all ranks"""
    train = scratch / "run/train"
    train.mkdir(parents=True)
    with open(train / "steps.csv", "w") as table:
        print("rank,step,begin_ns,end_ns", file=table)
        for rank, step in itertools.product(range(2), range(100)):
            print(rank, step, ns(step), ns(step + 1), sep=",", file=table)
    with open(train / "checkpoints.csv", "w") as table:
        print(HEAD, file=table)
        for step in (20, 40, 60):
            for rank, stall in ((0, 0.2), (1, 0.5)):
                print(step, rank, "raw", "weights", "sharded", "sync", "no", ns(step - 0.8), round(stall * 1e9), 0,
                      round(stall * 1e9), 0, 1000 * (1 + rank), sep=",", file=table)
    (train / "run.json").write_text(json.dumps({"training": {"steps_per_epoch": 50}, "result": {"parameters": 750}}))
    found, _ = groups(scratch / "run", "--mtbf", "1h")
    group = found["sync", "quiet"]
    assert group["saves"] == 3 and group["ranks"] == 2 and not group["fsync"], group
    assert math.isclose(group["stall_s"], 0.5) and group["bytes"] == 3000 and group["bytes_per_parameter"] == 4.0, group
    assert math.isclose(group["time_percent"], 1.5) and math.isclose(group["epoch_percent"], 1.0), group
    assert math.isclose(group["restart_s"], 0.5) and group["restart_by"] == "bytes", group


def compressed(scratch):
    """saves and restarts that differ only in compression are different settings, named by it"""
    for how in ("none", "gzip=4"):
        Run(numpy.random.default_rng(3), scratch / how, 20.0,
            lambda step, _: ("sync", 0.1, 0.0, 0.1) if step % 50 == 49 else None)
        table = scratch / how / "train/checkpoints.csv"
        head, *rows = table.read_text().splitlines()
        table.write_text("\n".join([head + ",compress", *(f"{row},{how}" for row in rows)]) + "\n")
        (scratch / how / "train/restarts.csv").write_text(
            "step,rank,format,content,by,begin_ns,verify_ns,read_ns,end_ns,bytes,compress\n"
            f"100,0,hdf5,training,rank0,{ns(0)},0,{9 if how == 'none' else 2}000000000,{ns(0.01)},1000,{how}\n")
    _, report = groups(scratch / "none", scratch / "gzip=4", "--mtbf", "24h", "--out", scratch / "out")
    assert {one["compress"]: one["restart_s"] for one in report["groups"]} == {"none": 9, "gzip=4": 2}, report["groups"]
    assert {one["compress"]: one["read_s"] for one in report["restarts"]} == {"none": 9, "gzip=4": 2}, report["restarts"]
    assert "sync hdf5, compress gzip=4: every" in report["answer"], report["answer"]
    for name in ("groups", "saves", "cost", "restart_times"):
        rows = list(csv.DictReader(open(scratch / f"out/{name}.csv")))
        assert {row["compress"] for row in rows} == {"none", "gzip=4"}, name


TESTS = (known_costs, restarts, requested, simulated, refused, parts_of_ranks, compressed)


def main():
    global program
    program, *wanted = sys.argv[1:]
    for test in TESTS:
        if wanted and test.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            test(pathlib.Path(scratch))
        print(f"{test.__name__}: {test.__doc__}", flush=True)


if __name__ == "__main__":
    main()
