# SPDX-License-Identifier: Apache-2.0
"""Writes sweep.csv, with one row per trial, and summarises a sweep."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from trials import COMPLETE, FAILED, PRUNED, Trials, counted

COLUMNS = ["trial", "state", "value", "steps", "begin_ns", "end_ns", "host", "cpus", "retry_of", "counts"]


def write_table(trials: Trials) -> None:
    names = [one["name"] for one in trials.spec["parameters"]]
    with trials.lock:
        every = trials.store.trials()
        counting = {one.number for one in counted(every)}
        rows = [[one.number, one.state, one.value, one.end.get("steps"), one.run.get("begin_ns"),
                 one.end.get("end_ns"), one.run.get("host"), one.run.get("cpus"), one.retry_of,
                 "yes" if one.number in counting else "no", *(one.params.get(name) for name in names)]
                for one in every]
        write_whole(trials.directory / "sweep.csv", [*COLUMNS, *names], rows)


def write_whole(file: Path, columns: list[str], rows: Iterable[Iterable[Any]]) -> None:
    """Writes the file, which appears by rename. An empty cell: unknown."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        fresh.write_text(text.getvalue(), encoding="utf-8")
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)


def summary(trials: Trials) -> dict[str, Any]:
    """Writes the tables, and returns numbers of trials by state, the best trial, and why trials failed."""
    write_table(trials)
    with trials.lock:
        every = counted(trials.store.trials())
        importance = trials.store.importance()
    if importance:
        write_whole(trials.directory / "importance.csv", ["parameter", "importance"], importance.items())
    complete = [one for one in every if one.state == COMPLETE and one.value is not None]
    best = (min if trials.spec["goal"] == "minimize" else max)(complete, key=lambda one: one.value or 0.0, default=None)
    return {
        "trials": trials.spec["trials"],
        "complete": len(complete),
        "pruned": sum(one.state == PRUNED for one in every),
        "failed": [[one.number, str(one.end.get("why"))] for one in every if one.state == FAILED],
        "best": None if best is None else {"trial": best.number, "value": best.value, "parameters": best.params},
    }
