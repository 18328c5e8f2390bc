"""Finds the steps and phases of a PyTorch training, by hooks where PyTorch has them, else by wrapping its functions."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from crosstalk._marks import marks
from crosstalk._metrics import metrics


class Steps:
    """Which step the training is in.

    That a step has begun is known only when a module in training mode is called: what was loaded before belongs to it
    as well. So phases between two steps wait here until then.
    """

    def __init__(self) -> None:
        self.optimizer: int | None = None  # the one that ends steps
        self.inside = False
        self.began_ns = 0
        self.since_ns: int | None = None  # the end of the step before
        self.before: list[tuple[str, int, int]] = []  # phases since then: name, begin, end
        self.after_first: list[Callable[[], None]] = []  # to be done when the first step is over

    def begin(self) -> None:
        if self.inside or marks.explicit:
            return
        self.inside = True
        first_ns = self.before[0][1] if self.before else time.monotonic_ns()
        self.began_ns = first_ns if self.since_ns is None else self.since_ns
        marks.step_at(self.began_ns)
        for name, begin_ns, end_ns in self.before:
            marks.phase_at(name, begin_ns)
            marks.phase_at(None, end_ns)
        self.before = []
        marks.control()

    def end(self) -> None:
        if marks.explicit:
            return
        marks.step_end()
        metrics.step(self.began_ns)
        self.inside = False
        while self.after_first:
            self.after_first.pop()()
        self.start_anew()

    def start_anew(self) -> None:
        self.since_ns = time.monotonic_ns()
        self.before = []

    def enter(self, name: str) -> None:
        if not marks.explicit:
            marks.phase(name)

    def leave(self) -> None:
        if not marks.explicit:
            marks.phase(None)

    def during(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function as a phase of the step that it is in, or that comes after it."""

        @functools.wraps(function)
        def in_phase(*arguments: Any, **named: Any) -> Any:
            begin_ns = time.monotonic_ns()
            if self.inside:
                self.enter(name)
            try:
                return function(*arguments, **named)
            finally:
                if self.inside:
                    self.leave()
                else:
                    self.before.append((name, begin_ns, time.monotonic_ns()))
                    del self.before[:-64]  # of an evaluation, which is no part of a step

        return in_phase


steps = Steps()


def _watch_loading(torch: Any) -> None:
    loading = torch.utils.data.dataloader
    loading.DataLoader.__iter__ = steps.during("load", loading.DataLoader.__iter__)
    iterator = loading._BaseDataLoaderIter
    iterator.__next__ = steps.during("load", iterator.__next__)
    torch.save = steps.during("checkpoint", torch.save)


def _watch_forward(torch: Any) -> None:
    """The first module that is called after a step is the outermost one; from then on it alone is watched."""

    def called(module: Any, _: Any) -> None:
        if steps.inside:
            return
        if module.training and torch.is_grad_enabled():
            steps.begin()
            steps.enter("forward")
        else:
            steps.start_anew()  # an evaluation

    def first_called(module: Any, inputs: Any) -> None:
        called(module, inputs)
        if steps.inside:
            first.remove()
            module.register_forward_pre_hook(called)

    first = torch.nn.modules.module.register_module_forward_pre_hook(first_called)


def _watch_backward(torch: Any) -> None:
    torch.autograd.backward = steps.during("backward", torch.autograd.backward)


class _LastGradient:
    """Marks where backward has nothing left but to wait for the exchange: when the gradient that comes last is there.

    Which one that is the first step tells; from then on it alone is watched, which costs one call a step.
    """

    def __init__(self, parameters: Sequence[Any]) -> None:
        self.parameters = parameters
        self.latest = 0
        self.handles = [
            parameter.register_hook(functools.partial(self.came, number)) for number, parameter in enumerate(parameters)
        ]

    def came(self, number: int, _: Any) -> None:
        self.latest = number

    def is_known(self) -> None:
        for handle in self.handles:
            handle.remove()
        self.handles = [self.parameters[self.latest].register_hook(self.last_came)]

    @staticmethod
    def last_came(_: Any) -> None:
        if steps.inside:
            steps.enter("wait_exchange")


def _watch_exchange(torch: Any) -> None:
    if not torch.distributed.is_available():
        return
    parallel = torch.nn.parallel.DistributedDataParallel
    initialise = parallel.__init__

    @functools.wraps(initialise)
    def watch_gradients(self: Any, *arguments: Any, **named: Any) -> None:
        initialise(self, *arguments, **named)
        with_gradient = [parameter for parameter in self.parameters() if parameter.requires_grad]
        steps.after_first.append(_LastGradient(with_gradient).is_known)

    parallel.__init__ = watch_gradients


def _before_update(optimizer: Any) -> None:
    if steps.optimizer is None:
        steps.optimizer = id(optimizer)
    if id(optimizer) == steps.optimizer:
        steps.begin()  # where no module was called
        steps.enter("update")


def _after_update(optimizer: Any) -> None:
    if id(optimizer) == steps.optimizer:
        steps.end()


def _watch_optimizer(torch: Any) -> None:
    module = importlib.import_module("torch.optim.optimizer")  # PyTorch 1 takes the name away from torch.optim
    if hasattr(module, "register_optimizer_step_post_hook"):
        module.register_optimizer_step_pre_hook(lambda optimizer, *_: _before_update(optimizer))
        module.register_optimizer_step_post_hook(lambda optimizer, *_: _after_update(optimizer))
        return
    initialise = torch.optim.Optimizer.__init__

    @functools.wraps(initialise)
    def watch_class(self: Any, *arguments: Any, **named: Any) -> None:
        initialise(self, *arguments, **named)
        kind = type(self)
        if not getattr(kind.step, "_crosstalk", False):
            kind.step = _watched_step(kind.step)

    torch.optim.Optimizer.__init__ = watch_class


def _watched_step(step: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(step)
    def watched(self: Any, *arguments: Any, **named: Any) -> Any:
        _before_update(self)
        try:
            return step(self, *arguments, **named)
        finally:
            _after_update(self)

    watched._crosstalk = True  # type: ignore[attr-defined]
    return watched


def _watch_all(torch: Any) -> None:
    import torch.optim
    import torch.utils.data

    for watch_one in (_watch_loading, _watch_forward, _watch_backward, _watch_exchange, _watch_optimizer):
        try:
            watch_one(torch)
        except (AttributeError, ImportError) as error:
            print(f"crosstalk: this PyTorch is not watched in full: {error}", file=sys.stderr)


class _WatchesTorch(importlib.abc.MetaPathFinder):
    """Watches PyTorch once the program has imported it; not before, for its import takes a second."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_watch(module: ModuleType) -> None:
            load(module)
            _watch_all(module)

        setattr(spec.loader, "exec_module", load_and_watch)  # noqa: B010
        return spec


def watch() -> None:
    """From here on, whenever the program imports PyTorch. Nothing is watched where nobody wants to know."""
    if marks.recorder is None and metrics.file is None:
        return
    if "torch" in sys.modules:
        _watch_all(sys.modules["torch"])
    else:
        sys.meta_path.insert(0, _WatchesTorch())
