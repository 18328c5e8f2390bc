# SPDX-License-Identifier: Apache-2.0
"""Writes steps and their time as OpenMetrics every 5 s while a training runs, like ddl-train --openmetrics."""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

BETWEEN_WRITES_NS = 5_000_000_000
LAUNCHERS = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")


def after_this_process(work: Callable[[], None]) -> None:
    """Calls `work` in another process after the end of this one, whatever ends it: Python handles signals too late."""
    try:
        this = os.pidfd_open(os.getpid())
    except (AttributeError, OSError):
        return
    child = os.fork()
    if child != 0:
        os.waitpid(child, 0)  # the child has forked and ends immediately, so the program never waits for it
        os.close(this)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(null, stream)
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)  # sent to all processes of a job
            select.select([this], [], [])
            work()
    finally:
        os._exit(0)


class StepMetrics:
    """Only the first rank on each host writes."""

    def __init__(self) -> None:
        self.file: Path | None = None
        self.model = ""
        self.steps = 0
        self.time_ns = 0
        self.written = (0, 0)  # steps and time when the file was last written
        self.next_ns = 0

    def start(self, file: str, program: str) -> None:
        if any(os.environ.get(name, "0") != "0" for name in LAUNCHERS):
            return
        self.file = Path(file)
        self.model = program.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        self.write(running=True)
        atexit.register(self.write, running=False)
        after_this_process(self.has_ended)

    def step(self, begin_ns: int) -> None:
        """Counts a step that began at this time and has just ended."""
        if self.file is None:
            return
        now_ns = time.monotonic_ns()
        self.steps += 1
        self.time_ns += now_ns - begin_ns
        if now_ns >= self.next_ns:
            self.write(running=True)

    def text(self, running: bool) -> str:
        steps, time_ns = self.steps - self.written[0], self.time_ns - self.written[1]
        families = [
            ("running", "gauge", "", "1 while it trains, 0 after it.", float(running)),
            ("steps", "counter", "", "Steps done.", float(self.steps)),
            ("time_seconds", "counter", "seconds", "Time in all steps done.", self.time_ns / 1e9),
        ]
        if steps > 0:
            mean = time_ns / 1e9 / steps
            families.append(("step_seconds", "gauge", "seconds", "Mean time of the latest steps.", mean))
        lines = []
        for end, kind, unit, help_text, value in families:
            name = f"crosstalk_training_{end}"
            lines.append(f"# TYPE {name} {kind}")
            if unit:
                lines.append(f"# UNIT {name} {unit}")
            lines.append(f"# HELP {name} {help_text}")
            total = "_total" if kind == "counter" else ""
            lines.append(f'{name}{total}{{model="{self.model}"}} {value!r}')
        return "\n".join([*lines, "# EOF", ""])

    def has_ended(self) -> None:
        """Marks the training as ended after its process has died; other values stay as last written."""
        assert self.file is not None
        name = "\ncrosstalk_training_running{"
        begin, found, end = self.file.read_text(encoding="utf-8").partition(name)
        labels, _, rest = end.partition("\n")
        if found and labels.endswith(" 1.0"):
            self.replace(f"{begin}{name}{labels[:-3]}0.0\n{rest}")

    def replace(self, text: str) -> None:
        assert self.file is not None
        # A file with a random name: in a directory that others can write to, a planted link would be followed.
        number, scratch = tempfile.mkstemp(prefix=f".{self.file.name}.", dir=self.file.parent)
        try:
            with open(number, "w", encoding="utf-8") as file:
                os.fchmod(number, 0o644)
                file.write(text)
            os.replace(scratch, self.file)
        except OSError:
            os.unlink(scratch)
            raise

    def write(self, running: bool) -> None:
        if self.file is None:
            return
        try:
            self.replace(self.text(running))
        except OSError as error:
            print(f"crosstalk: metrics are no longer written to {self.file}: {error}", file=sys.stderr)
            self.file = None
        self.written = (self.steps, self.time_ns)
        self.next_ns = time.monotonic_ns() + BETWEEN_WRITES_NS


metrics = StepMetrics()
