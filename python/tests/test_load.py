# SPDX-License-Identifier: Apache-2.0
"""crosstalk.load with a real pandas. Exit code 77: pandas is missing."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import os
import re
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
if importlib.util.find_spec("pandas") is None:
    print("SKIPPED: there is no pandas (Debian: python3-pandas)")
    sys.exit(77)

import crosstalk  # noqa: E402


def make_run(folder: Path, name: str, noise: str, steps: int) -> None:
    (folder / name / "train").mkdir(parents=True)
    record = {"host": "n1", "training": {"model": "mlp", "seed": 3}}
    (folder / name / "train/run.json").write_text(json.dumps(record), encoding="utf-8")
    rows = [f"0,{step},{1000 * step},{1000 * step + 700}\n" for step in range(steps)]
    (folder / name / "train/steps.csv").write_text("rank,step,begin_ns,end_ns\n" + "".join(rows), encoding="utf-8")
    if noise:
        status = {"block": 2, "noise": noise, "level": "", "exit_code": 0}
        (folder / name / "status.json").write_text(json.dumps(status), encoding="utf-8")


class Load(unittest.TestCase):
    def setUp(self) -> None:
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def test_steps_of_many_runs_are_one_table(self) -> None:
        make_run(self.folder, "b02.1", "io.write", 3)
        make_run(self.folder, "b02.2", "none", 2)
        make_run(self.folder, "b02.3.partial", "none", 2)
        table = crosstalk.load(str(self.folder / "*"))
        self.assertEqual(len(table), 5)
        self.assertEqual(list(table.columns[:4]), ["run", "host", "model", "seed"])
        self.assertEqual(list(table.columns[-4:]), ["rank", "step", "begin_ns", "end_ns"])
        lengths = (table["end_ns"] - table["begin_ns"]).groupby(table["noise"]).agg(["size", "mean"])
        self.assertEqual(lengths.loc["io.write"].tolist(), [3, 700])
        self.assertEqual(lengths.loc["none"].tolist(), [2, 700])

    def test_a_run_of_no_campaign_has_no_noise_in_its_row(self) -> None:
        make_run(self.folder, "run1", "", 2)
        make_run(self.folder, "run2", "none", 1)
        self.assertEqual(crosstalk.load(str(self.folder / "*"))["noise"].isna().tolist(), [True, True, False])

    def test_what_the_page_of_campaigns_shows_works(self) -> None:
        for number, (noise, steps) in enumerate((("io.write", 3), ("none", 2), ("none", 4))):
            make_run(self.folder, f"DIR/runs/b01.{number}", noise, steps)
        page = (Path(__file__).resolve().parents[2] / "docs/campaign.md").read_text(encoding="utf-8")
        (shown,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(shown, {})
        (quiet,) = re.findall(r"^.*\bnone\b(.*)$", printed.getvalue(), re.MULTILINE)
        self.assertEqual([float(number) for number in quiet.split()][:2], [6.0, 0.0007])

    def test_no_run_is_an_error(self) -> None:
        with self.assertRaisesRegex(FileNotFoundError, "no run with train/steps.csv"):
            crosstalk.load(str(self.folder / "*"))


if __name__ == "__main__":
    unittest.main()
