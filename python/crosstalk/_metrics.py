"""Steps and their time as OpenMetrics, every 5 s while a training runs: what ddl-train --openmetrics writes."""

from __future__ import annotations

import atexit
import os
import sys
import time
from pathlib import Path

BETWEEN_WRITES_NS = 5_000_000_000
LAUNCHERS = ("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID")


class StepMetrics:
    """Of the first rank on each host; the others write nothing."""

    def __init__(self) -> None:
        self.file: Path | None = None
        self.model = ""
        self.steps = 0
        self.time_ns = 0
        self.written = (0, 0)  # steps and time, at the last writing
        self.next_ns = 0

    def start(self, file: str, program: str) -> None:
        if any(os.environ.get(name, "0") != "0" for name in LAUNCHERS):
            return
        self.file = Path(file)
        self.model = program.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        self.write(running=True)
        atexit.register(self.write, running=False)

    def step(self, begin_ns: int) -> None:
        """A step that began then has ended."""
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
            ("time_seconds", "counter", "seconds", "Time in those steps.", self.time_ns / 1e9),
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

    def write(self, running: bool) -> None:
        if self.file is None:
            return
        scratch = self.file.with_name(f".{self.file.name}.{os.getpid()}")
        try:
            scratch.write_text(self.text(running), encoding="utf-8")
            scratch.replace(self.file)
        except OSError as error:
            print(f"crosstalk: no further metrics in {self.file}: {error}", file=sys.stderr)
            self.file = None
        self.written = (self.steps, self.time_ns)
        self.next_ns = time.monotonic_ns() + BETWEEN_WRITES_NS


metrics = StepMetrics()
