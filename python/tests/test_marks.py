# SPDX-License-Identifier: Apache-2.0
"""The module without PyTorch and, if installed, with it. Needs CROSSTALK_MARK_LIBRARY."""

from __future__ import annotations

import atexit
import csv
import ctypes
import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
import warnings
from pathlib import Path

HERE = Path(__file__).resolve().parent
DIGITS = HERE.parents[1] / "ddl-workloads/data/digits/digits.csv.gz"
HAS_TORCH = importlib.util.find_spec("torch") is not None


def python(run: Path | None, *words: str, ranks: int = 1) -> list[tuple[str, str]]:
    """The output of each rank on stdout and stderr."""
    started = []
    for rank in range(ranks):
        environment = {
            **os.environ,
            "PYTHONPATH": str(HERE.parent),
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": str(ranks),
            "OMP_NUM_THREADS": "1",
        }
        environment.pop("CROSSTALK_OUT", None)
        if run is not None:
            environment["CROSSTALK_OUT"] = str(run)
        command = [sys.executable, *(["-S"] if sys.flags.no_site else []), "-W", "ignore", *words]
        started.append(
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
    said = [process.communicate(timeout=240) for process in started]
    for process, (_, errors) in zip(started, said):
        assert process.returncode == 0, errors
    return said


def forked(run: Path, program: Path) -> None:
    """python(run, "-m", "crosstalk", program) in a fork of this process, which may have imported torch already."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.environ.update(CROSSTALK_OUT=str(run), RANK="0", LOCAL_RANK="0", WORLD_SIZE="1", OMP_NUM_THREADS="1")
            warnings.simplefilter("ignore")
            sys.path[:0] = ["", str(HERE.parent)]
            sys.argv = ["crosstalk", str(program)]
            runpy.run_module("crosstalk", run_name="__main__", alter_sys=True)
            code = 0
        except SystemExit as ended:
            code = int(ended.code or 0)
        except BaseException:
            traceback.print_exc()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        ctypes.CDLL(None).exit(code)  # unlike os._exit() it ends libraries, too
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, program.read_text()


def rows(run: Path, rank: int = 0) -> list[dict[str, int]]:
    with open(run / "train" / "steps.csv") as table:
        found = [{name: int(cell) for name, cell in row.items()} for row in csv.DictReader(table)]
    return [row for row in found if row["rank"] == rank]


class Marks(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.run_directory = Path(scratch.name) / "run"

    def test_outside_of_a_run_nothing_is_recorded(self) -> None:
        program = "import crosstalk; print(list(crosstalk.steps(range(3))), crosstalk.records())"
        self.assertEqual(python(None, "-c", program), [("[0, 1, 2] False\n", "")])

    def test_each_item_is_a_step_and_what_brings_the_next_is_load(self) -> None:
        program = """
import time, crosstalk
def slowly():
    for item in range(5):
        time.sleep(0.01)
        yield item
for item in crosstalk.steps(slowly()):
    with crosstalk.phase("forward"):
        time.sleep(0.02)
"""
        python(self.run_directory, "-c", program)
        found = rows(self.run_directory)
        self.assertEqual([row["step"] for row in found], [0, 1, 2, 3, 4])
        for row in found:
            self.assertGreaterEqual(row["forward_ns"], 20_000_000)
        for row in found[:-1]:
            self.assertGreaterEqual(row["load_ns"], 10_000_000)

    def test_a_loop_that_is_left_early_ends_its_step(self) -> None:
        program = """
import crosstalk
for item in crosstalk.steps(range(100)):
    if item == 3:
        break
"""
        python(self.run_directory, "-c", program)
        self.assertEqual(len(rows(self.run_directory)), 4)

    def test_a_missing_library_is_one_line_and_the_program_runs(self) -> None:
        program = (
            "import os; os.environ['CROSSTALK_MARK_LIBRARY'] = '/nowhere'; import crosstalk; crosstalk.step(); print(1)"
        )
        ((out, errors),) = python(self.run_directory, "-c", program)
        self.assertEqual(out, "1\n")
        self.assertEqual(errors.count("\n"), 1)
        self.assertIn("CROSSTALK_MARK_LIBRARY=FILE", errors)

    def test_metrics_say_that_a_training_has_ended_whatever_ended_it(self) -> None:
        metrics = self.run_directory.parent / "killed.prom"
        program = self.run_directory.parent / "killed.py"
        program.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
        words = [sys.executable, "-m", "crosstalk", "--openmetrics", str(metrics), str(program)]
        ended = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(HERE.parent)})
        self.assertEqual(ended.returncode, -9)
        until = time.monotonic() + 10
        while " 1.0" in metrics.read_text() and time.monotonic() < until:
            time.sleep(0.05)
        self.assertRegex(metrics.read_text(), r"\ncrosstalk_training_running\{[^}]*\} 0\.0\n(.*\n)*# EOF\n$")
        self.assertEqual([path.name for path in metrics.parent.glob("*.prom*")], ["killed.prom"])

    def test_a_program_runs_as_it_would_without_us(self) -> None:
        self.run_directory.parent.joinpath("beside.py").write_text("NAME = 'beside'\n")
        program = self.run_directory.parent / "program.py"
        program.write_text("import sys, beside\nprint(__name__, sys.argv[1:], beside.NAME)\n")
        said = python(self.run_directory, "-m", "crosstalk", str(program), "-x", "2")
        self.assertEqual(said, [("__main__ ['-x', '2'] beside\n", "")])


@unittest.skipUnless(HAS_TORCH, "there is no PyTorch")
class Torch(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        import torch  # noqa: F401  for all forks

    def setUp(self) -> None:
        scratch = Path(tempfile.mkdtemp())  # a TemporaryDirectory would end with the first fork
        self.addCleanup(shutil.rmtree, scratch)
        self.run_directory = scratch / "run"

    def test_steps_are_those_that_the_training_counts_and_as_long_as_its_timer_says(self) -> None:
        metrics = str(self.run_directory.parent / "steps.prom")
        training = (str(HERE / "train_digits.py"), str(DIGITS), "3")
        said = python(self.run_directory, "-m", "crosstalk", "--openmetrics", metrics, *training, ranks=2)
        match = re.match(r"(\d+) steps, ([0-9.]+) ms each", said[0][0])
        assert match is not None, said
        for rank in (0, 1):
            found = rows(self.run_directory, rank)
            self.assertEqual(len(found), int(match[1]))
            for phase in ("load", "forward", "backward", "wait_exchange", "update"):
                self.assertTrue(all(row[phase + "_ns"] > 0 for row in found[1:]), phase)
        found = rows(self.run_directory)
        mean_ms = sum(row["end_ns"] - row["begin_ns"] for row in found) / len(found) / 1e6
        self.assertLess(abs(mean_ms / float(match[2]) - 1.0), 0.005)
        told = Path(metrics).read_text()
        self.assertRegex(told, rf'\ncrosstalk_training_steps_total\{{model="[^"]*train_digits.py"\}} {match[1]}\.0\n')
        self.assertRegex(told, r"\ncrosstalk_training_running\{[^}]*\} 0\.0\n(.*\n)*# EOF\n$")
        seconds = re.search(r"\ncrosstalk_training_time_seconds_total\{[^}]*\} ([0-9.]+)\n", told)
        assert seconds is not None, told
        self.assertLess(abs(1e3 * float(seconds[1]) / len(found) / mean_ms - 1.0), 0.005)

    def test_an_evaluation_is_in_no_step_and_a_checkpoint_is_a_phase(self) -> None:
        program = """
import time, torch
from torch.utils.data import DataLoader, TensorDataset
torch.set_num_threads(1)
data = TensorDataset(torch.randn(64, 4), torch.randn(64, 1))
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    model.train()
    for inputs, targets in DataLoader(data, batch_size=16):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
    torch.save(model.state_dict(), "/dev/null")
    model.eval()
    with torch.no_grad():
        for inputs, targets in DataLoader(data, batch_size=16):
            model(inputs)
            time.sleep(0.05)
"""
        file = self.run_directory.parent / "evaluating.py"
        file.write_text(program)
        forked(self.run_directory, file)
        found = rows(self.run_directory)
        self.assertEqual(len(found), 12)
        for row in found[1:]:
            self.assertLess(
                row["end_ns"] - row["begin_ns"] - row["load_ns"], 100_000_000
            )  # without the 200 ms of the evaluation

    def test_a_phase_that_is_marked_between_two_steps_is_in_the_second(self) -> None:
        program = """
import time, crosstalk, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    if step == 1:
        with crosstalk.phase("checkpoint"):
            time.sleep(0.05)
"""
        file = self.run_directory.parent / "saving.py"
        file.write_text(program)
        forked(self.run_directory, file)
        self.assertEqual([row["checkpoint_ns"] >= 50_000_000 for row in rows(self.run_directory)],
                         [False, False, True, False])

    def test_explicit_steps_are_the_only_ones(self) -> None:
        program = """
import crosstalk, torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for inputs in crosstalk.steps([torch.randn(2, 4) for _ in range(6)]):
    for _ in range(2):
        model(inputs).sum().backward()
        optimizer.step()
"""
        file = self.run_directory.parent / "explicit.py"
        file.write_text(program)
        forked(self.run_directory, file)
        self.assertEqual(len(rows(self.run_directory)), 6)

    def test_the_hook_leaves_the_parameters_as_they_would_be(self) -> None:
        program = """
import os, sys, torch
import torch.distributed as dist
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[1])
dist.init_process_group("gloo")
torch.manual_seed(3)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(40, 40))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    model(torch.randn(8, 40)).square().sum().backward()
    optimizer.step()
print(sum(parameter.double().sum().item() for parameter in model.parameters()))
"""
        file = self.run_directory.parent / "parallel.py"
        file.write_text(program)
        watched = python(self.run_directory, "-m", "crosstalk", str(file), "29681", ranks=2)
        plain = python(None, str(file), "29682", ranks=2)
        self.assertEqual([out for out, _ in watched], [out for out, _ in plain])
        self.assertEqual(len(rows(self.run_directory)), 5)


if __name__ == "__main__":
    unittest.main()
