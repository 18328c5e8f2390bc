# SPDX-License-Identifier: Apache-2.0
"""The trials of a sweep, in a journal that outlives every process that writes it."""

from __future__ import annotations

import fcntl
import importlib
import itertools
import json
import math
import os
import random
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

OPTUNA_JOURNAL = "journal.log"
PLAIN_JOURNAL = "trials.jsonl"
STATES = WAITING, RUNNING, COMPLETE, PRUNED, FAILED = "waiting", "running", "complete", "pruned", "failed"


class Unavailable(Exception):
    """This machine lacks what the sweep needs."""


@dataclass
class Trial:
    number: int
    state: str
    params: dict[str, Any]
    value: float | None = None
    retry_of: int | None = None
    run: dict[str, Any] = field(default_factory=dict)  # worker, host, cpus, begin_ns
    end: dict[str, Any] = field(default_factory=dict)  # end_ns, steps, why

    def __post_init__(self) -> None:
        """Raises ValueError for values that no worker writes, such as an unknown state: the journal is damaged."""
        maps = (self.params, self.run, self.end)
        numbers = (self.number, self.value or 0, self.retry_of or 0)
        if (self.state not in STATES or not all(isinstance(one, dict) for one in maps)
                or not all(isinstance(one, (int, float)) and math.isfinite(one) for one in numbers)
                or not isinstance(self.run.get("worker", ""), str)):
            raise ValueError(f"trial {self.number} is not a valid trial of a sweep")

    def has_ended(self) -> bool:
        return self.state in (COMPLETE, PRUNED, FAILED)

    def is_lost(self) -> bool:
        return self.state == FAILED and bool(self.end.get("lost"))


class Lock:
    """A lock of the journal, which one process may take several times. The kernel releases it when the process ends.

    Optuna's own locks are files: they stay after kill -9, and all other processes then wait forever.
    """

    def __init__(self, file: Path, journal: Path) -> None:
        self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._journal = journal
        self._depth = 0

    def acquire(self) -> bool:
        if self._depth == 0:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            self._drop_torn_line()
        self._depth += 1
        return True

    def release(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.release()

    def _drop_torn_line(self) -> None:
        """Removes an incomplete last line, left by a writer that was killed or found the disk full."""
        if not self._journal.exists():
            return
        with open(self._journal, "rb+") as journal:
            end = journal.seek(0, os.SEEK_END)
            whole, size = end, end
            while whole > 0:
                begin = max(0, whole - 2**20)
                journal.seek(begin)
                newline = journal.read(whole - begin).rfind(b"\n")
                if newline >= 0:
                    whole = begin + newline + 1
                    break
                whole = begin
            if whole < size:
                journal.truncate(whole)


class PlainStore:
    """Journal of grid and random trials: lines of JSON, each of which updates the members of one trial."""

    def __init__(self, directory: Path, spec: dict[str, Any]) -> None:
        self._file = directory / PLAIN_JOURNAL
        self._names = {one["name"] for one in spec["parameters"]}

    def trials(self) -> list[Trial]:
        rows: list[dict[str, Any]] = []
        if self._file.exists():
            with open(self._file, "rb") as journal:
                for line in journal:
                    update = json.loads(line)
                    if update["number"] == len(rows):
                        rows.append({})
                    rows[update["number"]].update(update)
        found = [Trial(**row) for row in rows]
        if any(one.number != at or set(one.params) not in (self._names, set()) for at, one in enumerate(found)):
            raise ValueError("a trial has another number, or other parameters")
        return found

    def queue(self, params: dict[str, Any], retry_of: int | None) -> None:
        self._add({"number": len(self.trials()), "state": WAITING, "params": params, "retry_of": retry_of})

    def take(self, run: dict[str, Any]) -> Trial:
        """Starts the first waiting trial."""
        trial = next(one for one in self.trials() if one.state == WAITING)
        self._add({"number": trial.number, "state": RUNNING, "run": run})
        return Trial(trial.number, RUNNING, trial.params, None, trial.retry_of, run)

    def report(self, trial: Trial, step: int, value: float) -> bool:
        """Returns whether the trial should be pruned."""
        return False

    def finish(self, number: int, state: str, value: float | None, end: dict[str, Any]) -> None:
        self._add({"number": number, "state": state, "value": value, "end": end})

    def importance(self) -> dict[str, float]:
        return {}

    def _add(self, line: dict[str, Any]) -> None:
        file = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            left = (json.dumps(line) + "\n").encode()
            while left:
                left = left[os.write(file, left):]
            os.fsync(file)
        finally:
            os.close(file)


class OptunaStore:
    """Trials in Optuna's file journal."""

    def __init__(self, optuna: Any, directory: Path, spec: dict[str, Any], lock: Lock) -> None:
        self._optuna = optuna
        self._spec = spec
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.filterwarnings("ignore")  # about experimental features, and steps that are reported twice
        try:
            back_end = importlib.import_module("optuna.storages.journal").JournalFileBackend  # Optuna 4 and later
        except ImportError:
            back_end = optuna.storages.JournalFileStorage
        pruner = {
            "none": optuna.pruners.NopPruner,
            "median": optuna.pruners.MedianPruner,
            "halving": optuna.pruners.SuccessiveHalvingPruner,
        }[spec["pruner"]]()
        self._storage = optuna.storages.JournalStorage(back_end(str(directory / OPTUNA_JOURNAL), lock_obj=lock))
        self._study = optuna.create_study(storage=self._storage, study_name="sweep", direction=spec["goal"],
                                          pruner=pruner, load_if_exists=True)
        self._distributions = {one["name"]: self._distribution(one) for one in spec["parameters"]}
        self._running: Any = None

    def _distribution(self, one: dict[str, Any]) -> Any:
        kinds = self._optuna.distributions
        if one["kind"] == "choice":
            return kinds.CategoricalDistribution(one["choices"])
        if one["kind"] == "int":
            return kinds.IntDistribution(one["low"], one["high"], log=one["log"], step=one["step"] or 1)
        return kinds.FloatDistribution(one["low"], one["high"], log=one["log"], step=one["step"])

    def trials(self) -> list[Trial]:
        state = self._optuna.trial.TrialState
        names = {state.WAITING: WAITING, state.RUNNING: RUNNING, state.COMPLETE: COMPLETE, state.PRUNED: PRUNED,
                 state.FAIL: FAILED}
        found = []
        for one in self._study.get_trials(deepcopy=False):
            params = {**one.system_attrs.get("fixed_params", {}), **one.params}
            attributes = one.user_attrs
            found.append(Trial(one.number, names[one.state], params, one.value if one.state.is_finished() else None,
                               attributes.get("retry_of"), attributes.get("run", {}), attributes.get("end", {})))
        return found

    def queue(self, params: dict[str, Any], retry_of: int | None) -> None:
        self._study.enqueue_trial(params, user_attrs={} if retry_of is None else {"retry_of": retry_of})

    def take(self, run: dict[str, Any]) -> Trial:
        """Starts the first waiting trial, or else one that the sampler chooses."""
        seed = random.Random(f"{self._spec['seed']} {len(self._study.get_trials(deepcopy=False))}").randrange(2**31)
        self._study.sampler = self._optuna.samplers.TPESampler(seed=seed)
        self._running = self._study.ask(self._distributions)
        self._running.set_user_attr("run", run)
        return Trial(self._running.number, RUNNING, self._running.params, None,
                     self._running.user_attrs.get("retry_of"), run)

    def report(self, trial: Trial, step: int, value: float) -> bool:
        """Returns whether the trial should be pruned."""
        self._running.report(value, step)
        return bool(self._running.should_prune())

    def finish(self, number: int, state: str, value: float | None, end: dict[str, Any]) -> None:
        states = self._optuna.trial.TrialState
        trial = self._study.get_trials(deepcopy=False)[number]
        self._storage.set_trial_user_attr(trial._trial_id, "end", end)
        value = value if state == COMPLETE else None  # for a pruned trial Optuna uses the last report
        self._study.tell(number, value, {COMPLETE: states.COMPLETE, PRUNED: states.PRUNED, FAILED: states.FAIL}[state])

    def importance(self) -> dict[str, float]:
        """Importance by parameter; empty if no evaluator of Optuna works: Debian's needs scikit-learn."""
        evaluators = self._optuna.importance
        for name, options in (("FanovaImportanceEvaluator", {"seed": 0}), ("PedAnovaImportanceEvaluator", {})):
            try:
                evaluator = getattr(evaluators, name)(**options)
                return dict(evaluators.get_param_importances(self._study, evaluator=evaluator))
            except Exception:  # too few trials, or a library is missing
                continue
        return {}


class Trials:
    """The trials of a sweep, shared by all workers, and which trial is next. Every method takes the lock."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.spec: dict[str, Any] = json.loads((directory / "sweep.json").read_text(encoding="utf-8"))
        plain = directory / PLAIN_JOURNAL
        for journal in (plain, directory / OPTUNA_JOURNAL):
            if journal.exists() and not journal.is_file():  # reading a pipe or a device may have no end
                raise ValueError(f"{journal} is not a regular file")
        optuna = None if plain.exists() else self._optuna()
        self.lock = Lock(directory / "journal.flock", plain if optuna is None else directory / OPTUNA_JOURNAL)
        with self.lock:
            self.store: Any = (PlainStore(directory, self.spec) if optuna is None
                               else OptunaStore(optuna, directory, self.spec, self.lock))

    def _optuna(self) -> Any:
        try:
            return importlib.import_module("optuna")
        except ImportError:
            pass
        needs = [f"sampler={self.spec['sampler']}"] if self.spec["sampler"] == "tpe" else []
        needs += [f"pruner={self.spec['pruner']}"] if self.spec["pruner"] != "none" else []
        needs += ["the journal of this sweep"] if (self.directory / OPTUNA_JOURNAL).exists() else []
        if needs:
            raise Unavailable(f"Optuna is needed for {' and '.join(needs)}: apt-get install python3-optuna, or "
                              "pip install optuna (PYTHON names the interpreter)")
        return None

    def next(self, run: dict[str, Any]) -> Trial | None:
        """Starts the next trial. None: there is nothing to start now."""
        with self.lock:
            self.give_up_lost()
            trials = self.store.trials()
            if not any(one.state == WAITING for one in trials):
                planned = len(counted(trials))
                if planned >= self.spec["trials"]:
                    return None
                if self.spec["sampler"] != "tpe":
                    self.store.queue(params_of(self.spec, planned), None)
            return self.store.take(run)  # type: ignore[no-any-return]

    def is_over(self) -> bool:
        with self.lock:
            trials = self.store.trials()
            return len(counted(trials)) >= self.spec["trials"] and all(one.has_ended() for one in trials)

    def give_up_lost(self) -> None:
        """Marks running trials whose worker has ended as failed, and queues each again once."""
        for trial in self.store.trials():
            if trial.state == RUNNING and not self._is_alive(trial.run.get("worker")):
                self.give_up(trial)

    def give_up(self, trial: Trial) -> None:
        with self.lock:
            if trial.params and all(other.retry_of != trial.number for other in self.store.trials()):
                self.store.queue(trial.params, trial.number)
            steps = trial.end.get("steps", 0)
            self.store.finish(trial.number, FAILED, None, {"lost": True, "why": "its worker ended", "steps": steps})

    def _is_alive(self, worker: str | None) -> bool:
        """A worker holds a lock on a file of its name for as long as it lives."""
        if worker is None:
            return False
        file = self.directory / "workers" / worker
        try:
            handle = os.open(file, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(handle)
        return False


def counted(trials: list[Trial]) -> list[Trial]:
    """The trials that count: each that was lost is repeated, or was none, since it had no parameters yet."""
    repeated = {one.retry_of for one in trials}
    return [one for one in trials if not one.is_lost() and one.number not in repeated]


def params_of(spec: dict[str, Any], number: int) -> dict[str, Any]:
    """Parameters of trial `number` of a grid, or of random trials; the same with Optuna and without."""
    if spec["sampler"] == "grid":
        points = itertools.product(*(points_of(one) for one in spec["parameters"]))
        point = next(itertools.islice(points, number, None))
        return {one["name"]: value for one, value in zip(spec["parameters"], point)}
    return {one["name"]: drawn(one, random.Random(f"{spec['seed']} {number} {one['name']}"))
            for one in spec["parameters"]}


def points_of(one: dict[str, Any]) -> list[Any]:
    if one["kind"] == "choice":
        return list(one["choices"])
    step = one["step"] or 1
    count = int(math.floor((one["high"] - one["low"]) / step + 1e-9)) + 1
    return [one["low"] + i * step for i in range(count)]


def drawn(one: dict[str, Any], source: random.Random) -> Any:
    if one["kind"] == "choice":
        return source.choice(one["choices"])
    if one["step"] or (one["kind"] == "int" and not one["log"]):
        return source.choice(points_of(one)) if one["step"] else source.randint(one["low"], one["high"])
    if not one["log"]:
        return source.uniform(one["low"], one["high"])
    half = 0.5 if one["kind"] == "int" else 0.0
    value = math.exp(source.uniform(math.log(one["low"] - half), math.log(one["high"] + half)))
    value = min(max(value, one["low"]), one["high"])
    return round(value) if one["kind"] == "int" else value
