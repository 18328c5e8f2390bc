# SPDX-License-Identifier: Apache-2.0
"""Loads the steps of many runs into one pandas DataFrame."""

from __future__ import annotations

import glob
import importlib
import json
from pathlib import Path
from typing import Any

PLANNED = ("block", "model", "strategy", "noise", "level", "cores", "seed", "attempt", "options")


def _about(run: Path) -> dict[str, Any]:
    """Values common to all steps of a run: its name, its host, and columns of its campaign's plan."""
    record = json.loads((run / "train/run.json").read_text(encoding="utf-8"))
    training = record.get("training", {})
    about = {"run": run.name, "host": record.get("host"), "model": training.get("model"), "seed": training.get("seed")}
    status = run / "status.json"
    if status.exists():
        planned = json.loads(status.read_text(encoding="utf-8"))
        about.update({name: planned[name] for name in PLANNED if name in planned})
    return about


def load(pattern: str) -> Any:
    """One row per step and rank of every run directory that matches the pattern: ``load("DIR/runs/*")``.

    The first columns are run, host, model and seed, for a campaign also block, noise, level and so on; the columns of
    steps.csv follow. Unfinished runs (``.partial``) are skipped. Needs pandas.
    """
    try:
        pandas = importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError("crosstalk.load needs pandas (Debian: python3-pandas)") from error
    tables = []
    for name in sorted(glob.glob(pattern)):
        run = Path(name)
        if run.suffix == ".partial" or not (run / "train/steps.csv").exists():
            continue
        table = pandas.read_csv(run / "train/steps.csv")
        for at, (column, value) in enumerate(_about(run).items()):
            table.insert(at, column, value)
        tables.append(table)
    if not tables:
        raise FileNotFoundError(f"no run with train/steps.csv in {pattern}")
    return pandas.concat(tables, ignore_index=True)
