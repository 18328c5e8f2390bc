#!/usr/bin/env python3
"""CPU time of what crosstalk-python does in a step, without a training: it holds on a busy machine, too.

    CROSSTALK_OUT=DIR CROSSTALK_MARK_LIBRARY=build/release/lib/libcrosstalk-mark.so hook_calls.py"""

import os
import pathlib
import sys
import time

import torch  # noqa: F401

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
from crosstalk import _torch  # noqa: E402

STEPS = 1000
_torch.watch()
load = _torch.steps.during("load", lambda: None)
backward = _torch.steps.during("backward", lambda: None)


def step():
    load()
    _torch.steps.begin()
    _torch.steps.enter("forward")
    backward()
    _torch.steps.enter("wait_exchange")
    _torch.steps.enter("update")
    _torch.steps.end()


def us_a_step():
    begin_ns = time.thread_time_ns()
    for _ in range(STEPS):
        step()
    return (time.thread_time_ns() - begin_ns) / 1e3 / STEPS


us_a_step()
found = sorted(us_a_step() for _ in range(20))
print(f"{found[10]:.1f} us of CPU a step ({found[0]:.1f} to {found[-1]:.1f}), load average {os.getloadavg()[0]:.1f}")
