#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What crosstalk-python costs a PyTorch training, by turning its hooks on and off inside one training.

    hooks_in_blocks.py [--trainings 6] [--pairs 150] [--csv FILE]

The training is python/tests/train_digits.py's: two ranks, DistributedDataParallel over gloo, DataLoader with two workers;
each rank with its workers on a CPU of its own, as mpirun binds them. A block is an epoch of 15 steps, with hooks or
without, in random order within each pair of blocks, so that differences between trainings (memory, CPUs, time of day) do not
matter. As in a designed run, a block slower than others of its kind by five robust standard deviations is excluded, and the
effect is the mean difference over the mean without hooks, with a t interval over pairs. After the blocks, the hooks are
timed within steps, with the caches as a step leaves them. CROSSTALK_BIN names the folder of the programs."""

import argparse
import csv
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
RANKS = 2
WARM_UP, TIMED = 4, 20  # epochs with hooks
NEIGHBOURS = 5  # pairs before and after with which a block is compared
OUTLIER, MOST_OUTLIERS = 5.0, 0.05  # robust standard deviations; share of blocks
COLUMNS = ["training", "pair", "hooked", "begin_ns", "step_ms", "cpu_ms"]


class Hooks:
    """The hooks that crosstalk-python has installed in PyTorch, this model and this optimizer."""

    def __init__(self, torch, model, optimizer):
        loading = torch.utils.data.dataloader
        owners = [
            (loading.DataLoader, "__iter__"),
            (loading._BaseDataLoaderIter, "__next__"),
            (torch, "save"),
            (torch.autograd, "backward"),
        ]
        if getattr(type(optimizer).step, "_crosstalk", False):
            owners.append((type(optimizer), "step"))
        self.functions = [(owner, name, getattr(owner, name)) for owner, name in owners]
        tables = [model._forward_pre_hooks, *(parameter._backward_hooks for parameter in model.parameters())]
        module = sys.modules["torch.optim.optimizer"]
        tables += [getattr(module, f"_global_optimizer_{when}_hooks", None) for when in ("pre", "post")]
        self.tables = [(table, dict(table)) for table in tables if table]
        wanted = {"model", "gradient", "optimizer"}
        found = {"model"} if model._forward_pre_hooks else set()
        found |= {"gradient"} if any(parameter._backward_hooks for parameter in model.parameters()) else set()
        found |= {"optimizer"} if len(owners) == 5 or len(self.tables) == 4 else set()
        assert found == wanted, f"no hook of {wanted - found}"

    def turn(self, on):
        for owner, name, watched in self.functions:
            setattr(owner, name, watched if on else watched.__wrapped__)
        for table, hooks in self.tables:
            table.clear()
            if on:
                table.update(hooks)


class Times:
    """Time of each kind of hook, in us per step, without the load before the step and PyTorch's own calls of hooks."""

    def __init__(self, steps):
        self.now, self.by_step = {}, []
        for name in ("begin", "enter", "leave", "end"):
            setattr(steps, name, self.timed(name, getattr(steps, name)))

    def timed(self, name, hook):
        def call(*arguments):
            begin_ns = time.perf_counter_ns()
            hook(*arguments)
            self.now[name] = self.now.get(name, 0.0) + (time.perf_counter_ns() - begin_ns) / 1e3
            if name == "end":
                self.by_step.append(self.now)
                self.now = {}

        return call


def epoch_of(loader, model, optimizer, loss_of):
    steps = 0
    for images, labels in loader:
        optimizer.zero_grad()
        loss_of(model(images), labels).backward()
        optimizer.step()
        steps += 1
    return steps


def train(pairs, seed):
    """Runs a rank. Rank 0 prints a row per block, times of hooks in some steps, and the number of steps with hooks."""
    rank = int(os.environ["RANK"])
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cpus[rank % len(cpus)]})
    sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python/tests")]
    from crosstalk import _torch

    _torch.watch()
    import torch
    import train_digits

    torch.set_num_threads(1)
    torch.manual_seed(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=RANKS)
    data = train_digits.digits(ROOT / "ddl-workloads/data/digits/digits.csv.gz")
    sampler = train_digits.DistributedSampler(data)
    loader = train_digits.DataLoader(data, batch_size=64, sampler=sampler, num_workers=2, persistent_workers=True)
    model = train_digits.DistributedDataParallel(train_digits.network())
    parts = loader, model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), torch.nn.CrossEntropyLoss()
    watched = sum(epoch_of(*parts) for _ in range(WARM_UP))
    hooks = Hooks(torch, parts[1], parts[2])
    order = random.Random(seed)
    for pair in range(pairs):
        for hooked in order.sample([True, False], 2):
            sampler.set_epoch(pair)  # the same digits in both
            hooks.turn(hooked)
            _torch.steps.start_anew()
            torch.distributed.barrier()
            begin_ns, begin_cpu_ns = time.monotonic_ns(), time.process_time_ns()
            steps = epoch_of(*parts)
            spent = [(time.monotonic_ns() - begin_ns) / 1e6 / steps, (time.process_time_ns() - begin_cpu_ns) / 1e6 / steps]
            watched += steps if hooked else 0
            if rank == 0:
                print(pair, int(hooked), begin_ns, *(f"{value:.5f}" for value in spent), sep=",")
    hooks.turn(True)
    times = Times(_torch.steps)
    watched += sum(epoch_of(*parts) for _ in range(TIMED))
    if rank == 0:
        print(json.dumps(times.by_step[1:]))
        print(watched, flush=True)
    torch.distributed.destroy_process_group()


def run_training(number, pairs):
    """Runs two ranks in separate processes. Returns rows of COLUMNS, and times of hooks by step."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(29800 + number)}
        environment.setdefault("CROSSTALK_MARK_LIBRARY", str(BIN.parent / "lib/libcrosstalk-mark.so"))
        environment |= {"WORLD_SIZE": str(RANKS), "CROSSTALK_OUT": f"{scratch}/run"}
        command = [os.environ.get("PYTHON", "/usr/bin/python3"), "-W", "ignore", __file__]
        command += ["--train", str(number), "--pairs", str(pairs)]
        ranks = [
            subprocess.Popen(command, env={**environment, "RANK": str(rank)}, stdout=subprocess.PIPE, text=True)
            for rank in range(RANKS)
        ]
        *rows, times, watched = ranks[0].communicate()[0].splitlines() or ["", ""]
        if any([rank.wait() for rank in ranks]):
            sys.exit("hooks_in_blocks.py: the training failed")
        with open(f"{scratch}/run/train/steps.csv", encoding="utf-8") as table:
            recorded = sum(line.startswith("0,") for line in table)
    if recorded != int(watched):
        sys.exit(f"hooks_in_blocks.py: {watched} steps had hooks, {recorded} were recorded")
    return [[number, *(float(cell) for cell in row.split(","))] for row in rows], json.loads(times)


def outliers(blocks):
    """Numbers of the outliers among the blocks of one treatment in one training."""
    residuals = []
    for at, value in enumerate(blocks):
        residuals.append(value / statistics.median(blocks[max(0, at - NEIGHBOURS) : at + NEIGHBOURS + 1]) - 1)
    deviation = 1.4826 * statistics.median(abs(residual) for residual in residuals)
    found = [at for at, residual in enumerate(residuals) if residual > OUTLIER * deviation]
    return found if len(found) <= MOST_OUTLIERS * len(blocks) else []


def t_quantile(degrees):
    """97.5 % quantile of Student's t, for 30 degrees of freedom and more (Cornish and Fisher's first term)."""
    normal = statistics.NormalDist().inv_cdf(0.975)
    return normal + (normal**3 + normal) / (4 * degrees)


def effect(pairs):
    """Mean difference in percent of the mean without hooks, with the half width of its 95 % interval."""
    plain = statistics.fmean(plain for plain, _ in pairs)
    differences = [100 * (hooked - plain_one) / plain for plain_one, hooked in pairs]
    width = t_quantile(len(pairs) - 1) * statistics.stdev(differences) / len(pairs) ** 0.5
    return statistics.fmean(differences), width


def pairs_of(rows, column):
    """(plain, hooked) of each pair that has no outlier in step_ms, by training; and the number of outliers."""
    kept, aside = {}, [0, 0]
    for training in sorted({row[0] for row in rows}):
        blocks = [{row[1]: row for row in rows if row[0] == training and row[2] == hooked} for hooked in (0, 1)]
        left_out = [outliers([blocks[hooked][pair][4] for pair in sorted(blocks[hooked])]) for hooked in (0, 1)]
        aside = [count + len(numbers) for count, numbers in zip(aside, left_out)]
        kept[training] = [
            (blocks[0][pair][column], blocks[1][pair][column])
            for number, pair in enumerate(sorted(blocks[0]))
            if number not in left_out[0] and number not in left_out[1]
        ]
    return kept, aside


def report(rows):
    kept, aside = pairs_of(rows, COLUMNS.index("step_ms"))
    for training, pairs in kept.items():
        plain = [plain for plain, _ in pairs]
        print(f"training {training}: {statistics.fmean(plain):.3f} ms a step without hooks, blocks differ by "
              f"{100 * statistics.stdev(plain) / statistics.fmean(plain):.1f} %; hooks {effect(pairs)[0]:+.2f} % "
              f"+- {effect(pairs)[1]:.2f}, {len(pairs)} pairs")
    means = [statistics.fmean(plain for plain, _ in pairs) for pairs in kept.values()]
    if len(means) > 1:
        print(f"trainings differ by {100 * statistics.stdev(means) / statistics.fmean(means):.1f} % without hooks")
    every = [pair for pairs in kept.values() for pair in pairs]
    cpu = effect([pair for pairs in pairs_of(rows, COLUMNS.index("cpu_ms"))[0].values() for pair in pairs])
    plain = statistics.fmean(plain for plain, _ in every)
    change, width = effect(every)
    print(f"hooks cost {change:+.3f} % of a step ({change - width:+.3f} to {change + width:+.3f}), "
          f"{10 * change * plain:+.1f} us of {plain:.3f} ms; CPU time of the rank {cpu[0]:+.3f} % "
          f"({cpu[0] - cpu[1]:+.3f} to {cpu[0] + cpu[1]:+.3f}); {len(every)} pairs; blocks set aside: "
          f"{aside[1]} with hooks, {aside[0]} without; load average {os.getloadavg()[0]:.1f}")


def report_times(by_step):
    def text(values):
        return f"{statistics.median(values):.1f} us (mean {statistics.fmean(values):.1f})"

    every = text([sum(step.values()) for step in by_step])
    parts = ", ".join(f"{name} {text([step.get(name, 0.0) for step in by_step])}" for name in by_step[0])
    print(f"inside the hooks: median {every} a step; {parts}; {len(by_step)} steps")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--trainings", type=int, default=6)
    options.add_argument("--pairs", type=int, default=150, help="number of pairs of blocks in each training")
    options.add_argument("--csv", default="hooks_in_blocks.csv")
    options.add_argument("--train", type=int, help=argparse.SUPPRESS)
    wanted = options.parse_args()
    if wanted.train is not None:
        train(wanted.pairs, wanted.train)
        return
    if wanted.pairs < 31:
        sys.exit("hooks_in_blocks.py: fewer than 31 pairs give no interval")
    rows, times = [], []
    with open(wanted.csv, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(COLUMNS)
        for training in range(1, wanted.trainings + 1):
            more, more_times = run_training(training, wanted.pairs)
            rows, times = rows + more, times + more_times
            table.writerows([*map(int, row[:4]), *row[4:]] for row in more)
            file.flush()
    report(rows)
    report_times(times)


if __name__ == "__main__":
    main()
