# SPDX-License-Identifier: Apache-2.0
"""Tells Crosstalk where the steps of a program begin, and which phase each is in.

Under ``crosstalk run -- ..`` steps and phases go to the run's directory; elsewhere all of this does nothing.

    for batch in crosstalk.steps(loader):
        with crosstalk.phase("forward"):
            loss = model(batch)

A PyTorch training needs no such lines: ``crosstalk-python train.py`` finds its steps by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from crosstalk._load import load
from crosstalk._marks import marks

__all__ = ["load", "phase", "records", "step", "step_end", "steps"]
__version__ = "0.1.0"

Item = TypeVar("Item")


def records() -> bool:
    """Does this process record its steps? It does where CROSSTALK_OUT names the directory of a run."""
    return marks.records()


def step() -> None:
    """Ends the step that was, and begins the next."""
    marks.explicit = True
    marks.step()


def step_end() -> None:
    """Ends the step that was; what comes until the next is in no step."""
    marks.step_end()


def steps(items: Iterable[Item]) -> Iterator[Item]:
    """The items, each of which is a step: from the moment that it is there until the next one is.

    What lies between, on the way to the next item, is the phase "load".
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
    """load, to_device, forward, backward, wait_exchange, update, checkpoint, or a region of another name.

    A phase inside of another one takes its place as long as it lasts.
    """
    marks.phases.append(name)
    marks.phase(name)
    try:
        yield
    finally:
        marks.phases.pop()
        marks.phase(marks.phases[-1] if marks.phases else None)
