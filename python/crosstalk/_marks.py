# SPDX-License-Identifier: Apache-2.0
"""Calls libcrosstalk-mark.so from Crosstalk's build tree or installation."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

LIBRARY = "libcrosstalk-mark.so"


def _candidates() -> list[str]:
    here = Path(__file__).resolve().parent
    named = os.environ.get("CROSSTALK_MARK_LIBRARY")
    near = [str(here / LIBRARY), str(here.parents[1] / "build" / "release" / "lib" / LIBRARY)]
    installed = ctypes.util.find_library("crosstalk-mark")
    return [named] if named else [*(path for path in near if os.path.exists(path)), *([installed] if installed else [])]


def _library() -> ctypes.CDLL | None:
    """The loaded library. None outside of a run, and, with a line on stderr, if the library is missing."""
    if not os.environ.get("CROSSTALK_OUT"):
        return None
    reason = f"there is no {LIBRARY}"
    for candidate in _candidates():
        try:
            found = ctypes.CDLL(candidate)
            found.crosstalk_phase.argtypes = [ctypes.c_char_p]
            found.crosstalk_step_at.argtypes = [ctypes.c_int64]
            found.crosstalk_phase_at.argtypes = [ctypes.c_char_p, ctypes.c_int64]
            return found
        except (OSError, AttributeError) as error:
            reason = str(error)
    print(f"crosstalk: {reason}; give it with CROSSTALK_MARK_LIBRARY=FILE; steps are not recorded", file=sys.stderr)
    return None


class Marks:
    """Functions of the library; without it they do nothing."""

    def __init__(self) -> None:
        self.explicit = False  # the program marks its steps by step() or steps()
        self.done = 0  # number of steps that have ended
        self.in_step = False
        self.phases: list[str | None] = []  # current phases, the innermost last
        self.show: Callable[[str | None], None] = self.phase  # what phase() of the program calls

    @functools.cached_property
    def recorder(self) -> ctypes.CDLL | None:
        return _library()

    @staticmethod
    def run() -> str | None:
        """Directory of the run that this process is part of."""
        return os.environ.get("CROSSTALK_OUT") or None

    def records(self) -> bool:
        return self.recorder is not None and bool(self.recorder.crosstalk_records())

    def rank(self) -> int:
        """This process's rank in steps.csv; -1 if its steps are not recorded. Waits for all ranks' first step."""
        return int(self.recorder.crosstalk_rank()) if self.recorder is not None else -1

    def begun(self) -> bool:
        return self.in_step or self.done > 0

    def count(self, in_step: bool) -> None:
        """The current step has ended; another one has begun, or not."""
        self.done += self.in_step
        self.in_step = in_step

    def step(self) -> None:
        self.count(True)
        if self.recorder is not None:
            self.recorder.crosstalk_step()

    def step_at(self, at_ns: int) -> None:
        """Records that a step began at this earlier time, without a control delay."""
        self.count(True)
        if self.recorder is not None:
            self.recorder.crosstalk_step_at(at_ns)

    def control(self) -> None:
        """Makes the control delay, if requested, in a step begun by step_at()."""
        if self.recorder is not None:
            self.recorder.crosstalk_control()

    def checkpoint_wanted(self) -> str | None:
        wanted = self.recorder.crosstalk_checkpoint_wanted() if self.recorder is not None else 0
        return (None, "sync", "async")[wanted]

    def step_end(self) -> None:
        self.count(False)
        if self.recorder is not None:
            self.recorder.crosstalk_step_end()

    def step_drop(self) -> None:
        """Discards the current step, because the program ends within it."""
        self.in_step = False
        if self.recorder is not None:
            self.recorder.crosstalk_step_drop()

    def phase(self, name: str | None) -> None:
        if self.recorder is not None:
            self.recorder.crosstalk_phase(name.encode() if name is not None else None)

    def phase_at(self, name: str | None, at_ns: int) -> None:
        if self.recorder is not None:
            self.recorder.crosstalk_phase_at(name.encode() if name is not None else None, at_ns)


marks = Marks()
