# SPDX-License-Identifier: Apache-2.0
"""Phases of trainings with known lengths, since each phase sleeps. Needs CROSSTALK_MARK_LIBRARY; exit code 77 without
PyTorch."""

from __future__ import annotations

import importlib.util
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from test_marks import forked, python, rows

if importlib.util.find_spec("torch") is None:
    print("SKIPPED: there is no PyTorch")
    sys.exit(77)
import torch  # noqa: E402, F401  for all forks

BEGIN = """
import sys, time, torch
torch.set_num_threads(1)

class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        time.sleep(0.003)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        time.sleep(0.005)
        return gradient

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 1)

    def forward(self, x):
        return Slow.apply(self.linear(x))

class SlowSGD(torch.optim.SGD):
    def step(self, closure=None):
        loss = super().step(closure)
        time.sleep(0.002)
        return loss

def loss_of(net):
    return net(torch.randn(2, 4)).pow(2).mean()

"""
FORWARD, BACKWARD, UPDATE = 3e6, 5e6, 2e6


class Phases(unittest.TestCase):
    def steps_of(self, program: str, count: int, ranks: int = 1) -> list[list[dict[str, int]]]:
        scratch = Path(tempfile.mkdtemp())  # a TemporaryDirectory would end with the first fork
        self.addCleanup(shutil.rmtree, scratch)
        run = scratch / "run"
        file = scratch / "training.py"
        file.write_text(BEGIN + program)
        if ranks == 1:
            forked(run, file)
        else:
            python(run, "-m", "crosstalk", str(file))
        found = [rows(run, rank) for rank in range(ranks)]
        for of_rank in found:
            self.assertEqual(len(of_rank), count)
        return found

    def assert_phases(self, steps: list[dict[str, int]], forward: float, backward: float, update: float) -> None:
        """Checks that each phase lasts at least as long as it sleeps; on a busy machine all last longer."""
        for phase, sleeps in (("forward", forward), ("backward", backward), ("update", update)):
            for step in steps:
                self.assertGreaterEqual(step[phase + "_ns"], 0.99 * sleeps, phase)

    def test_each_micro_batch_has_a_forward(self) -> None:
        (steps,) = self.steps_of(
            """
net = Net()
optimizer = SlowSGD(net.parameters(), lr=0.01)
for _ in range(20):
    for _ in range(4):
        (loss_of(net) / 4).backward()
    optimizer.step()
    optimizer.zero_grad()
""",
            20,
        )
        self.assert_phases(steps, 4 * FORWARD, 4 * BACKWARD, UPDATE)

    def test_a_closure_runs_forward_and_backward_inside_of_update(self) -> None:
        (steps,) = self.steps_of(
            """
net = Net()
optimizer = SlowSGD(net.parameters(), lr=0.01)
def closure():
    time.sleep(0.001)
    loss = loss_of(net)
    optimizer.zero_grad()
    loss.backward()
    return loss
for _ in range(20):
    optimizer.step(closure)
""",
            20,
        )
        self.assert_phases(steps, FORWARD, BACKWARD, UPDATE)
        self.assertGreaterEqual(min(step["other_ns"] for step in steps), 1e6)

    def test_all_evaluations_of_a_closure_are_one_step(self) -> None:
        (steps,) = self.steps_of(
            """
net = Net()
calls = 0
optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3, tolerance_grad=0.0, tolerance_change=0.0)
def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = loss_of(net)
    loss.backward()
    return loss
for _ in range(8):
    optimizer.step(closure)
assert calls == 24, calls
""",
            8,
        )
        self.assert_phases(steps, 3 * FORWARD, 3 * BACKWARD, 0)

    def test_a_second_model_and_its_optimizer_have_phases_too(self) -> None:
        (steps,) = self.steps_of(
            """
one, two = Net(), Net()
first, second = SlowSGD(one.parameters(), lr=0.01), SlowSGD(two.parameters(), lr=0.01)
for _ in range(20):
    for net, optimizer in ((one, first), (two, second)):
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()
""",
            20,  # the first step has no second update
        )
        self.assert_phases(steps[1:], 2 * FORWARD, 2 * BACKWARD, 2 * UPDATE)

    def test_an_evaluation_after_the_last_of_several_optimizers_is_in_no_step(self) -> None:
        (steps,) = self.steps_of(
            """
one, two = Net(), Net()
first, second = SlowSGD(one.parameters(), lr=0.01), SlowSGD(two.parameters(), lr=0.01)
for i in range(20):
    with torch.no_grad():
        one(torch.randn(2, 4))  # a sample in training mode, which is no evaluation
    for net, optimizer in ((one, first), (two, second)):
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()
    if i % 5 == 4:
        one.eval(), two.eval()
        with torch.no_grad():
            one(torch.randn(2, 4)), two(torch.randn(2, 4))
        one.train(), two.train()
        time.sleep(2)  # metrics
""",
            20,
        )
        self.assert_phases(steps[1:], 2 * FORWARD, 2 * BACKWARD, 2 * UPDATE)
        for step in steps[1:]:
            self.assertLess(step["end_ns"] - step["begin_ns"], 2e9)

    def test_an_optimizer_that_steps_several_times_in_a_round_ends_each_step(self) -> None:
        self.steps_of(
            """
one, two = Net(), Net()
first, second = SlowSGD(one.parameters(), lr=0.01), SlowSGD(two.parameters(), lr=0.01)
for i in range(20):
    loss_of(one).backward()
    first.step()
    if i % 5 == 4:
        loss_of(two).backward()
        second.step()
""",
            20,
        )

    def test_a_step_that_no_update_ends_is_none(self) -> None:
        (steps,) = self.steps_of(
            """
net = Net()
optimizer = SlowSGD(net.parameters(), lr=0.01)
for i in range(6):
    loss_of(net).backward()
    if i < 5:
        optimizer.step()
time.sleep(1)
""",
            5,
        )
        for step in steps:
            self.assertLess(step["end_ns"] - step["begin_ns"], 1e9)

    def test_a_step_that_an_exception_ends_in_the_update_is_none(self) -> None:
        for raised, count in (("SystemExit(0)", 5), ("RuntimeError", 9)):  # the program catches RuntimeError
            for closure in ("", "closure"):
                with self.subTest(raised=raised, closure=closure):
                    self.steps_of(
                        f"""
net = Net()
calls = 0
class Failing(torch.optim.SGD):
    def step(self, closure=None):
        if closure is None and calls == 6:
            raise {raised}
        return super().step(closure)
optimizer = Failing(net.parameters(), lr=0.01)
def closure():
    loss = loss_of(net)
    loss.backward()
    if "{closure}" and calls == 6:
        raise {raised}
    return loss
while calls < 10:
    calls += 1
    if not "{closure}":
        closure()
    try:
        optimizer.step({closure})
    except RuntimeError:
        pass
""",
                        count,
                    )

    def test_what_comes_after_an_evaluation_is_in_no_step(self) -> None:
        (steps,) = self.steps_of(
            """
from torch.utils.data import DataLoader, TensorDataset
net = Net()
optimizer = SlowSGD(net.parameters(), lr=0.01)
data = DataLoader(TensorDataset(torch.randn(10, 4)), batch_size=2)
for _ in range(4):
    net.train()
    for (batch,) in data:
        optimizer.zero_grad()
        net(batch).pow(2).mean().backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        for (batch,) in data:
            net(batch)
            time.sleep(0.1)
    time.sleep(2)  # metrics
""",
            20,
        )
        for step in steps[1:]:
            self.assertLess(step["end_ns"] - step["begin_ns"], 2e9)

    def test_a_teacher_that_is_called_before_every_step_belongs_to_it(self) -> None:
        (steps,) = self.steps_of(
            """
net, teacher = Net(), Net().eval()
optimizer = SlowSGD(net.parameters(), lr=0.01)
for _ in range(20):
    with torch.no_grad():
        target = teacher(torch.randn(2, 4)) + teacher(torch.randn(2, 4))
    optimizer.zero_grad()
    (net(torch.randn(2, 4)) - target).pow(2).mean().backward()
    optimizer.step()
""",
            20,
        )
        self.assert_phases(steps[1:], 3 * FORWARD, BACKWARD, UPDATE)

    def test_a_teacher_that_is_called_after_the_student_is_forward_too(self) -> None:
        (steps,) = self.steps_of(
            """
net, teacher = Net(), Net().eval()
optimizer = SlowSGD(net.parameters(), lr=0.01)
for _ in range(20):
    optimizer.zero_grad()
    loss_of(net).backward()
    with torch.no_grad():
        teacher(torch.randn(2, 4))
    time.sleep(0.004)
    optimizer.step()
""",
            20,
        )
        self.assert_phases(steps, 2 * FORWARD, BACKWARD, UPDATE)
        self.assertGreaterEqual(min(step["other_ns"] for step in steps), 4e6)

    def test_a_model_can_be_saved_whole_while_it_is_watched(self) -> None:
        self.steps_of(
            """
import copy, io, pickle
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(5):
    loss_of(net).backward()
    optimizer.step()
    pickle.dumps(net)
    torch.save(net, io.BytesIO())
    copy.deepcopy(net)
    copy.deepcopy(optimizer)
""",
            5,
        )

    def test_processes_that_are_spawned_are_ranks(self) -> None:
        one, two = self.steps_of(
            """
import os
import torch.distributed as dist
import torch.multiprocessing as mp
def main(rank, world):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29683")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    net = torch.nn.parallel.DistributedDataParallel(Net())
    optimizer = SlowSGD(net.parameters(), lr=0.01)
    for _ in range(10):
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()
if __name__ == "__main__":
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
        del os.environ[name]
    mp.spawn(main, args=(2,), nprocs=2)
""",
            10,
            ranks=2,
        )
        for steps in (one, two):
            self.assert_phases(steps, FORWARD, BACKWARD, UPDATE)


if __name__ == "__main__":
    unittest.main()
