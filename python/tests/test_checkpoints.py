# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of PyTorch trainings in checkpoints.csv. Needs CROSSTALK_MARK_LIBRARY, and for `interference checkpoints`
CROSSTALK_INTERFERENCE; exit code 77 without PyTorch."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from test_marks import forked, python, rows

if importlib.util.find_spec("torch") is None:
    print("SKIPPED: there is no PyTorch")
    sys.exit(77)
import torch  # noqa: E402, F401  for all forks

COLUMNS = "step,rank,format,content,by,mode,fsync,begin_ns,stall_ns,copy_ns,write_ns,sync_ns,bytes,compress"
BEGIN = """
import io, os, threading, time, torch
torch.set_num_threads(1)

class Slow:
    def __getstate__(self):
        time.sleep(0.02)
        return {"slow": 1}

net = torch.nn.Linear(100, 10)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)

def step():
    net(torch.randn(2, 100)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()

"""
DISTRIBUTED = """
try:
    import torch.distributed.checkpoint as dcp
except ImportError:  # of PyTorch 1; Debian's, whose Python takes no default that has no hash
    import dataclasses
    plain = dataclasses.dataclass

    def with_hash(one=None, /, **named):
        if one is None:
            return lambda it: with_hash(it, **named)
        return plain(one, **{"unsafe_hash": "__hash__" not in vars(one), **named})

    dataclasses.dataclass = with_hash
    import torch.distributed._shard.checkpoint as dcp
    dataclasses.dataclass = plain

"""
# What PyTorch 2 has, and the installed one may lack: a save in another thread, whose result is a future.
STAND_IN = """
import concurrent.futures, os, time
import torch

class Writer:
    def __init__(self, path):
        self.path, self.sync_files = path, False

pool = concurrent.futures.ThreadPoolExecutor(1)

def save(state_dict, *, checkpoint_id=None, storage_writer=None):
    folder = storage_writer.path if storage_writer else checkpoint_id
    os.makedirs(folder)
    time.sleep(0.05)
    if "bad" in state_dict:
        raise RuntimeError("a save that fails")
    with open(os.path.join(folder, "__0_0.distcp"), "wb") as file:
        torch.save(state_dict, file)

def async_save(state_dict, *, checkpoint_id=None, storage_writer=None):
    copied = {name: tensor.clone() for name, tensor in state_dict.items()}
    return pool.submit(save, copied, checkpoint_id=checkpoint_id, storage_writer=storage_writer)
"""


class Checkpoints(unittest.TestCase):
    def setUp(self) -> None:
        self.scratch = Path(tempfile.mkdtemp())  # a TemporaryDirectory would end with the first fork
        self.addCleanup(shutil.rmtree, self.scratch)
        self.run_directory = self.scratch / "run"

    def saves_of(self, program: str, ranks: int = 1) -> list[dict[str, str]]:
        file = self.scratch / "training.py"
        file.write_text(BEGIN + f"OUT = {str(self.scratch)!r} + '/'\n" + program)
        if ranks == 1:
            forked(self.run_directory, file)
        else:
            python(self.run_directory, "-m", "crosstalk", str(file), ranks=ranks)
        table = self.run_directory / "train/checkpoints.csv"
        if not table.exists():
            return []
        self.assertEqual(table.read_text().splitlines()[0], COLUMNS)
        self.assertEqual([path.name for path in table.parent.glob(".*")], [])
        with open(table) as lines:
            return sorted(csv.DictReader(lines), key=lambda save: int(save["begin_ns"]))

    def assert_words(self, save: dict[str, str], expected: str) -> None:
        self.assertEqual(" ".join(save[name] for name in ("step", "rank", *COLUMNS.split(",")[2:7])), expected)
        self.assertEqual(save["compress"], "none")

    def test_a_file_of_torch_save_has_a_row_and_a_copy_in_memory_none(self) -> None:
        saves = self.saves_of(
            """
torch.save(net.state_dict(), OUT + "before the first step")
for number in range(6):
    step()
    if number == 2:
        torch.save(net.state_dict(), OUT + "weights")
        torch.save(net.state_dict(), io.BytesIO())
    if number == 4:
        with open(OUT + "training", "wb") as file:
            torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "slow": Slow()}, f=file)
"""
        )
        self.assertEqual(len(saves), 2)
        self.assert_words(saves[0], "3 0 torch weights rank0 sync no")
        self.assert_words(saves[1], "5 0 torch training rank0 sync no")
        for save, name in zip(saves, ("weights", "training")):
            self.assertEqual(int(save["bytes"]), (self.scratch / name).stat().st_size)
            self.assertEqual(save["write_ns"], save["stall_ns"])
        self.assertGreaterEqual(int(saves[1]["stall_ns"]), 20_000_000)
        step = rows(self.run_directory)[5]  # the one that begins where the fifth ended
        self.assertGreaterEqual(int(saves[1]["begin_ns"]), step["begin_ns"])
        self.assertLessEqual(int(saves[1]["stall_ns"]), step["checkpoint_ns"])

    def test_steps_that_the_program_marks_count_too(self) -> None:
        saves = self.saves_of(
            """
import crosstalk
for number in crosstalk.steps(range(4)):
    step()
    torch.save(net, OUT + str(number))
"""
        )
        self.assertEqual([save["step"] for save in saves], ["0", "1", "2", "3"])
        self.assert_words(saves[0], "0 0 torch weights rank0 sync no")

    def test_a_save_in_another_thread_is_asynchronous(self) -> None:
        saves = self.saves_of(
            """
step()
thread = threading.Thread(target=torch.save, args=({"slow": Slow()}, OUT + "beside"))
thread.start()
step()
thread.join()
"""
        )
        self.assertEqual(len(saves), 1)
        self.assertEqual((saves[0]["mode"], saves[0]["stall_ns"]), ("async", "0"))
        self.assertGreaterEqual(int(saves[0]["write_ns"]), 20_000_000)

    def test_each_rank_adds_its_rows(self) -> None:
        saves = self.saves_of(
            """
for number in range(20):
    step()
    torch.save(net.state_dict(), OUT + os.environ["RANK"])
""",
            ranks=2,
        )
        found = sorted((int(save["step"]), int(save["rank"]), save["by"]) for save in saves)
        self.assertEqual(found, [(n, rank, ("rank0", "all")[rank]) for n in range(1, 21) for rank in (0, 1)])

    def test_a_sharded_save_is_one_row_with_the_bytes_of_its_files(self) -> None:
        imported = subprocess.run([sys.executable, "-c", DISTRIBUTED], capture_output=True, text=True)
        if imported.returncode != 0:  # Debian's PyTorch 1.13 has it, but not for its own Python
            self.skipTest(imported.stderr.splitlines()[-1])
        saves = self.saves_of(
            DISTRIBUTED
            + """
step()
step()
state = {"net": net.state_dict()}
dcp.save_state_dict(state, dcp.FileSystemWriter(OUT + "shards"), no_dist=True)
step()
"""
        )
        self.assertEqual(len(saves), 1)
        self.assert_words(saves[0], "2 0 dcp weights sharded sync yes")
        files = (self.scratch / "shards").glob("__0_*")
        self.assertEqual(int(saves[0]["bytes"]), sum(file.stat().st_size for file in files))
        self.assertGreater(int(saves[0]["bytes"]), 4 * 1010)

    def test_an_asynchronous_sharded_save_has_a_row_once_it_is_written(self) -> None:
        package = self.scratch / "stand_in/checkpoint"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(STAND_IN)
        saves = self.saves_of(
            f"""
import torch.distributed
torch.distributed.__path__.insert(0, {str(package.parent)!r})
import torch.distributed.checkpoint as dcp
step()
written = dcp.async_save(net.state_dict(), checkpoint_id=OUT + "one")
step()
written.result()
lost = dcp.async_save({{"bad": torch.ones(1)}}, checkpoint_id=OUT + "lost")
try:
    lost.result()
except RuntimeError:
    pass
dcp.async_save(net.state_dict(), storage_writer=dcp.Writer(OUT + "two")).result()
dcp.save(net.state_dict(), checkpoint_id=OUT + "three")
"""
        )
        self.assertEqual(len(saves), 3)
        self.assert_words(saves[0], "1 0 dcp weights sharded async yes")
        self.assert_words(saves[1], "2 0 dcp weights sharded async no")
        self.assert_words(saves[2], "2 0 dcp weights sharded sync yes")
        for save, name in zip(saves, ("one", "two", "three")):
            self.assertEqual(int(save["bytes"]), (self.scratch / name / "__0_0.distcp").stat().st_size)
        for save in saves[:2]:
            self.assertGreaterEqual(int(save["stall_ns"]) + int(save["write_ns"]), 50_000_000)

    def test_interference_takes_them(self) -> None:
        program = os.environ.get("CROSSTALK_INTERFERENCE")
        if program is None:
            self.skipTest("there is no interference")
        self.saves_of(
            """
for number in range(60):
    step()
    if number % 20 == 9:
        torch.save({"net": net.state_dict(), "slow": Slow()}, OUT + "file")
"""
        )
        done = subprocess.run(
            [program, "checkpoints", str(self.run_directory), "--mtbf", "1h", "--format", "json"],
            env={name: value for name, value in os.environ.items() if name != "LD_PRELOAD"},
            capture_output=True, text=True,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        (group,) = json.loads(done.stdout)["groups"]
        self.assertEqual((group["checkpoint_format"], group["saves"], group["noise"]), ("torch", 3, "quiet"))
        self.assertGreaterEqual(group["stall_s"], 0.02)
        self.assertGreater(group["daly_s"], 0.0)


if __name__ == "__main__":
    unittest.main()
