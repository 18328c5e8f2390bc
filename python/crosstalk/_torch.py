# SPDX-License-Identifier: Apache-2.0
"""Finds the steps and phases of a PyTorch training, by hooks where PyTorch has them, else by wrapping its functions."""

from __future__ import annotations

import atexit
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import multiprocessing
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from crosstalk._checkpoints import saves
from crosstalk._marks import marks
from crosstalk._metrics import metrics


BACKWARDS_WITHOUT_STEP = 50
LONGEST_ROUND = 100


class Round:
    """Decides which optimizer ends the steps. A round begins with the leader: the first optimizer that steps.

    The leader ends the steps until another optimizer is the last one in two successive rounds and steps once in each.
    So the length of steps does not depend on optimizers that step in some rounds only, or several times in a round.
    """

    def __init__(self) -> None:
        self.ender: int | None = None
        self.last: int | None = None  # the optimizer that ended the previous round
        self.stepped: list[int] = []  # optimizers that stepped in this round, the leader first

    def ends_with(self, optimizer: int) -> bool:
        """Called when this optimizer steps; returns true if that ends the training's step."""
        if self.ender is None:
            self.ender = optimizer
        elif optimizer == self.stepped[0] or len(self.stepped) == LONGEST_ROUND:  # too long: the leader may be gone
            last = self.stepped[-1] if self.stepped.count(self.stepped[-1]) == 1 else self.stepped[0]
            if last == self.last:
                self.ender = last
            self.last = last
            self.stepped = []
        self.stepped.append(optimizer)
        return optimizer == self.ender


class Steps:
    """Tracks the training's current step and phase.

    The start of a step is known only when a module in training mode is called, but data loaded before that belong to
    the step as well. So changes of the phase between two steps are kept here until then.

    Phases are a stack, since a closure runs forward and backward within update. Only the training's thread is tracked.
    """

    def __init__(self) -> None:
        self.round = Round()
        self.thread = threading.get_ident()
        self.inside = False
        self.number = 0
        self.began_ns = 0
        self.since_ns: int | None = None  # end of the previous step; None after an evaluation
        self.before: list[tuple[str | None, int]] = []  # changes of the phase since since_ns
        self.stack = marks.phases
        # By module and training mode: the step before which it was last called, and whether the call belongs to a step.
        self.evaluated: dict[tuple[int, bool], tuple[int, bool]] = {}
        self.after_first: list[Callable[[], None]] = []  # callbacks for the end of the first step
        self.at_rest: list[Callable[[], None]] = []  # callbacks for when the next module called may be outermost

    def ignored(self) -> bool:
        return marks.explicit or threading.get_ident() != self.thread

    def begin(self) -> None:
        if self.inside or marks.explicit:
            return
        self.inside = True
        first_ns = self.before[0][1] if self.before else time.monotonic_ns()
        self.began_ns = first_ns if self.since_ns is None else self.since_ns
        marks.step_at(self.began_ns)
        for name, at_ns in self.before:
            marks.phase_at(name, at_ns)
        self.before = []
        marks.phase(None)
        marks.control()
        if self.stack:
            marks.phase(self.stack[-1])

    def end(self) -> None:
        if marks.explicit or not self.inside:
            return
        marks.step_end()
        metrics.step(self.began_ns)
        self.inside = False
        self.number += 1
        while self.after_first:
            self.after_first.pop()()
        self.before = []
        self.since_ns = time.monotonic_ns()

    def drop(self) -> None:
        """Discards the step, since the program ends or an exception leaves the update; the next step begins afresh."""
        if self.inside and not marks.explicit:
            marks.step_drop()
            self.inside = False
        self.since_ns = None
        self.before = []

    def belongs(self, module: Any) -> bool:
        """Does a call without gradients, or in evaluation mode, belong to a step?

        A call within a step does, and so does one that occurs before every step. Any other call is an evaluation: the
        time up to it belongs to no step.
        """
        if self.inside:
            return True
        if len(self.evaluated) > 1000:
            self.evaluated.clear()  # modules may be created for each call
        called = (id(module), module.training)  # a generator is called in each step and evaluated, too
        last, belongs = self.evaluated.get(called, (-2, False))
        if last != self.number:
            belongs = last == self.number - 1
        self.evaluated[called] = (self.number, belongs)
        if not belongs:
            self.since_ns = None
            self.before = []
        return belongs

    def show(self, name: str | None) -> None:
        """Makes this the current phase until another is entered or the enclosing one is left."""
        if self.inside:
            marks.phase(name)
        elif name is not None or self.before:
            self.before.append((name, time.monotonic_ns()))
            del self.before[:-128]  # changes during an evaluation, which is in no step

    def show_marked(self, name: str | None) -> None:
        """Like show(), for a phase that the program marks itself, such as a checkpoint between two steps."""
        if marks.explicit or threading.get_ident() != self.thread:
            marks.phase(name)
        else:
            self.show(name)

    def enter(self, name: str | None) -> None:
        self.stack.append(name)
        self.show(name)

    def leave(self) -> None:
        self.stack.pop()
        self.show(self.stack[-1] if self.stack else None)
        if not self.stack or self.stack[-1] is None:
            for work in self.at_rest:
                work()

    def during(self, name: str | None, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps the function, so that it is a phase of the current step, or else of the next one."""

        @functools.wraps(function)
        def in_phase(*arguments: Any, **named: Any) -> Any:
            if self.ignored():
                return function(*arguments, **named)
            self.enter(name)
            try:
                return function(*arguments, **named)
            except StopIteration:
                if self.since_ns is None and not self.inside:
                    self.before = []  # the evaluation's data have ended
                raise
            finally:
                self.leave()

        return in_phase


steps = Steps()
saves.training_thread = lambda: steps.thread


def _watch_loading(torch: Any) -> None:
    loading = torch.utils.data.dataloader
    loading.DataLoader.__iter__ = steps.during("load", loading.DataLoader.__iter__)
    iterator = loading._BaseDataLoaderIter
    iterator.__next__ = steps.during("load", iterator.__next__)
    torch.save = steps.during("checkpoint", saves.of_file(torch.save))


def _watch_forward(torch: Any) -> None:
    """Watches outermost modules, those that are called outside of any other. A hook on all modules waits for one and is
    removed while that module runs: inner modules have no overhead, and torch.compile meets no hook."""
    module_hooks = torch.nn.modules.module
    warnings.filterwarnings("ignore", message=".*when there are global hooks on modules")
    waiting: list[Any] = []

    def wait() -> None:
        if not waiting:
            waiting.append(module_hooks.register_module_forward_pre_hook(called))

    def called(module: Any, _: Any) -> None:
        if steps.ignored():
            return
        waiting.pop().remove()
        if module.training and torch.is_grad_enabled():
            steps.begin()
            steps.show("forward")
            return
        around = steps.stack[-1] if steps.stack else None  # "load", if the data set calls a model
        forward = steps.belongs(module) and around is None
        if forward:
            steps.show("forward")

        def returned(*_: Any) -> None:
            handle.remove()
            if forward and not torch.is_grad_enabled():  # with gradients, the loss follows within forward
                steps.show(None)
            wait()

        try:
            handle = module.register_forward_hook(returned)
        except RuntimeError:  # a ScriptModule, which does not call hooks
            wait()

    steps.at_rest.append(wait)
    wait()


def _watch_backward(torch: Any) -> None:
    backward = steps.during("backward", torch.autograd.backward)
    count = 0

    @functools.wraps(backward)
    def counted(*arguments: Any, **named: Any) -> Any:
        nonlocal count
        count += 1
        if count == BACKWARDS_WITHOUT_STEP and steps.round.ender is None and not marks.explicit:
            print(
                f"crosstalk: {count} calls of backward() without step() of a torch.optim optimizer, which ends a step; call crosstalk.step() where a step begins",
                file=sys.stderr,
                flush=True,
            )
        return backward(*arguments, **named)

    torch.autograd.backward = counted


class _LastGradient:
    """Marks the time in backward when the last gradient is ready and only the exchange is awaited.

    The first step shows which gradient is last; from then on only that one has a hook, which costs one call per step.
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
        if steps.inside and not marks.explicit:
            marks.phase("wait_exchange")  # until the end of backward


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


def _watch_ranks(torch: Any) -> None:
    """Finds the ranks of processes that no launcher started, such as those of mp.spawn."""
    if not torch.distributed.is_available():
        return
    initialise = torch.distributed.init_process_group

    @functools.wraps(initialise)
    def tell_rank(*arguments: Any, **named: Any) -> None:
        initialise(*arguments, **named)
        identity = multiprocessing.current_process()._identity
        if identity:
            os.environ["CROSSTALK_RANK"] = str(torch.distributed.get_rank())
            os.environ["CROSSTALK_RANKS"] = str(torch.distributed.get_world_size())
            os.environ["CROSSTALK_LOCAL_RANK"] = str(identity[-1] - 1)

    torch.distributed.init_process_group = tell_rank


def _watch_optimizer(torch: Any) -> None:
    initialise = torch.optim.Optimizer.__init__

    @functools.wraps(initialise)
    def watch_class(self: Any, *arguments: Any, **named: Any) -> None:
        initialise(self, *arguments, **named)
        kind = type(self)
        if not getattr(kind.step, "_crosstalk", False):
            kind.step = _watched_step(kind.step)

    torch.optim.Optimizer.__init__ = watch_class


def _watched_step(step: Callable[..., Any]) -> Callable[..., Any]:
    updated = steps.during("update", step)

    @functools.wraps(step)
    def watched(self: Any, *arguments: Any, **named: Any) -> Any:
        if steps.round.ender is None and not marks.explicit:
            if threading.get_ident() != steps.thread:
                steps.thread = threading.get_ident()
                steps.stack.clear()
        if steps.ignored() or steps.stack[-1:] == ["update"]:  # step() of its base class
            return step(self, *arguments, **named)
        closures = [steps.during(None, word) if callable(word) else word for word in arguments]
        if callable(named.get("closure")):
            named["closure"] = steps.during(None, named["closure"])
        ends = steps.round.ends_with(id(self))
        if ends:
            steps.begin()  # if no module was called
        try:
            result = updated(self, *closures, **named)
        except BaseException:
            steps.drop()
            raise
        if ends:
            steps.end()
        return result

    watched._crosstalk = True  # type: ignore[attr-defined]
    return watched


def _watch_all(torch: Any) -> None:
    import torch.optim
    import torch.utils.data

    for watch_one in (
        _watch_loading,
        _watch_forward,
        _watch_backward,
        _watch_exchange,
        _watch_ranks,
        _watch_optimizer,
    ):
        try:
            watch_one(torch)
        except (AttributeError, ImportError) as error:
            print(f"crosstalk: this PyTorch is only partly supported: {error}", file=sys.stderr)


def _watch_distributed_checkpoints(module: ModuleType) -> None:
    """Watches the package and its module state_dict_saver, from which programs import the same functions."""
    for name in ("save", "save_state_dict", "async_save"):
        save = getattr(module, name, None)
        if save is None:
            continue
        watched = steps.during("checkpoint", saves.of_shards(save))
        for holder in (module, getattr(module, "state_dict_saver", None)):
            if getattr(holder, name, None) is save:
                setattr(holder, name, watched)


WATCHED: dict[str, Callable[[Any], None]] = {
    "torch": _watch_all,
    "torch.distributed.checkpoint": _watch_distributed_checkpoints,
    "torch.distributed._shard.checkpoint": _watch_distributed_checkpoints,  # of PyTorch 1
}


class _WatchesTorch(importlib.abc.MetaPathFinder):
    """Watches PyTorch once the program has imported it. It is not imported here, since that takes a second."""

    def __init__(self) -> None:
        self.waiting = {name for name in WATCHED if name not in sys.modules}

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self.waiting:
            return None
        self.waiting.remove(name)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_watch(module: ModuleType) -> None:
            load(module)
            WATCHED[name](module)

        setattr(spec.loader, "exec_module", load_and_watch)  # noqa: B010
        return spec


def _watch_spawned() -> None:
    """Makes Python processes that multiprocessing spawns call watch(), too."""
    spawn = importlib.import_module("multiprocessing.spawn")
    command_line = spawn.get_command_line

    @functools.wraps(command_line)
    def watching(*arguments: Any, **named: Any) -> Any:
        words = list(command_line(*arguments, **named))
        if "-c" in words:
            code = words.index("-c") + 1
            words[code] = f"from crosstalk import _torch; _torch.watch(); {words[code]}"
        return words

    setattr(spawn, "get_command_line", watching)  # noqa: B010


def watch() -> None:
    """Hooks PyTorch when the program imports it. Does nothing if steps are not recorded."""
    if marks.recorder is None and metrics.file is None:
        return
    _watch_spawned()
    marks.show = steps.show_marked
    atexit.register(steps.drop)
    for name, watch_module in WATCHED.items():
        if name in sys.modules:
            watch_module(sys.modules[name])
    sys.meta_path.insert(0, _WatchesTorch())
