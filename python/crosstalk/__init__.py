# SPDX-License-Identifier: Apache-2.0
"""Marks the steps and phases of a program for Crosstalk.

Under ``crosstalk run -- ..`` steps and phases are recorded in the run's directory; elsewhere these functions do
nothing.

    for batch in crosstalk.steps(loader):
        with crosstalk.phase("forward"):
            loss = model(batch)

A PyTorch training needs no such calls: ``crosstalk-python train.py`` finds its steps automatically.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from crosstalk._load import load
from crosstalk._marks import marks

__all__ = ["checkpoint_wanted", "load", "phase", "records", "step", "step_end", "steps"]
__version__ = "0.1.0"

Item = TypeVar("Item")


def records() -> bool:
    """True if this process records its steps: CROSSTALK_OUT names the directory of a run."""
    return marks.records()


def checkpoint_wanted() -> str | None:
    """Returns "sync" or "async" if the stressor job.checkpoint requests a checkpoint, else None; call it once per step.

    "sync": the training waits until it is written; "async": it is written while the next steps run. All ranks get the
    same answer.
    """
    return marks.checkpoint_wanted()


def step() -> None:
    """Ends the current step and begins the next."""
    marks.explicit = True
    marks.step()


def step_end() -> None:
    """Ends the current step; time until the next one belongs to no step."""
    marks.step_end()


def steps(items: Iterable[Item]) -> Iterator[Item]:
    """Yields the items, one step each: from the moment that an item is available until the next one is.

    Fetching the next item is the phase "load".
    """
    marks.explicit = True
    source = iter(items)
    try:
        for item in source:
            marks.step()
            yield item
            marks.phase("load")
    finally:
        marks.step_end()


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Marks a phase, such as load, to_device, forward, backward, wait_exchange, update or checkpoint; or a region.

    A nested phase replaces the outer one while it lasts.
    """
    marks.phases.append(name)
    marks.show(name)
    try:
        yield
    finally:
        marks.phases.pop()
        marks.show(marks.phases[-1] if marks.phases else None)
