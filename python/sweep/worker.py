# SPDX-License-Identifier: Apache-2.0
"""A worker of a sweep: takes a trial, runs its command, reports values on the way, and writes down the result."""

from __future__ import annotations

import ctypes
import fcntl
import json
import math
import os
import re
import select
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from table import write_table
from trials import COMPLETE, FAILED, PRUNED, Trial, Trials

MARK = "CROSSTALK_SWEEP_TRIAL"  # variable of all processes of a trial
RESULT = "CROSSTALK_SWEEP_RESULT"  # file for KEY=VALUE lines, besides the output
HARVEST = "CROSSTALK_HARVEST"  # file in which a neighbour of a training counts its work
RUN = "CROSSTALK_OUT"  # run directory of a training beside the sweep, which a trial does not belong to
LOOK_AGAIN_S = 0.2
TABLE_EVERY_S = 2.0
ROOM = 256 * 1024  # with less free space in bytes, the full disk is blamed for a trial's failure
OF_DDL_TRAIN = re.compile(r"epoch (?P<step>\d+): loss (?P<loss>\S+), accuracy on held-out samples (?P<accuracy>\S+) %")


def die_with_parent() -> None:
    death_signal = 1
    ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL)


def end_processes(mark: str) -> None:
    """Kills all processes of a trial, those included whose parents have ended."""
    wanted = f"{MARK}={mark}".encode()
    for _ in range(100):
        found = False
        for entry in os.listdir("/proc"):
            if not entry.isdigit():
                continue
            try:
                if wanted in Path("/proc", entry, "environ").read_bytes().split(b"\0"):
                    found = True
                    os.kill(int(entry), signal.SIGKILL)
            except OSError:  # it has ended, or is another user's
                continue
        if not found:
            return
        time.sleep(0.02)


class Lines:
    """Reads the lines that are added to a file."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._at = 0

    def added(self, is_last: bool) -> Iterator[str]:
        """The lines added since the last call. With `is_last`, also a last line without a newline."""
        if not self._file.exists():
            return
        with open(self._file, "rb") as file:
            file.seek(self._at)
            text = file.read()
        whole = len(text) if is_last else text.rfind(b"\n") + 1
        self._at += whole
        yield from text[:whole].decode(errors="replace").splitlines()


class Values:
    """Values in the lines of a trial, each with its step: as the line says, or else counted from 1."""

    def __init__(self, spec: dict[str, Any], of_ddl_train: bool) -> None:
        self._key = spec["value"]
        self._of_ddl_train = of_ddl_train
        key = re.escape(self._key)
        self._pattern = re.compile(spec["value_line"] or rf"(?:^|[\s,;]){key}\s*=\s*(?P<value>[^\s,;]+)")
        self._step = re.compile(r"(?:^|[\s,;])step\s*=\s*(\d+)")
        self.step = 0
        self.last: float | None = None

    def take(self, line: str) -> bool:
        """Returns whether the line has a value."""
        text = step = None
        found = OF_DDL_TRAIN.search(line) if self._of_ddl_train else None
        if found and self._key in ("loss", "accuracy"):
            text, step = found[self._key], found["step"]
        elif found := self._pattern.search(line):
            named = found.groupdict()
            text, step = named.get("value", found[1]), named.get("step")
        try:
            value = float(text or "")
        except ValueError:
            return False
        if self._of_ddl_train and self._key == "accuracy":
            value /= 100.0
        if step is None and (counted := self._step.search(line)):
            step = counted[1]
        self.step = int(step) if step is not None else self.step + 1
        self.last = value
        return math.isfinite(value)


class Worker:
    def __init__(self, directory: Path, cpus: str) -> None:
        self._trials = Trials(directory)
        self._directory = directory
        self._host = os.environ.get("SLURMD_NODENAME") or socket.gethostname().split(".", maxsplit=1)[0]
        self._cpus = cpus
        self._name = f"{self._host}.{os.getpid()}.{time.monotonic_ns()}"
        (directory / "workers").mkdir(exist_ok=True)
        self._file = directory / "workers" / self._name
        self._life = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        fcntl.flock(self._life, fcntl.LOCK_EX)
        self._stopped = False
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._stop)
        self._table_ns = 0

    def _stop(self, *_: object) -> None:
        self._stopped = True

    def work(self) -> int:
        try:
            while not self._stopped:
                trial = self._trials.next({"worker": self._name, "host": self._host, "cpus": self._cpus,
                                           "begin_ns": time.monotonic_ns()})
                if trial is not None:
                    self._try(trial)
                    self._show()
                elif self._trials.is_over():
                    return 0
                else:
                    time.sleep(LOOK_AGAIN_S)  # the worker of another trial may end before its trial does
        finally:
            self._file.unlink(missing_ok=True)
        return 128 + signal.SIGTERM

    def _try(self, trial: Trial) -> None:
        mark = f"{self._directory}/{trial.number} of {self._name}"
        if trial.retry_of is not None:
            self._end_lost(trial.retry_of)
        try:
            self._attempt(trial, mark)
        finally:
            end_processes(mark)

    def _end_lost(self, number: int) -> None:
        """Ends processes that the killed worker of a trial has left running."""
        with self._trials.lock:
            lost = next(one for one in self._trials.store.trials() if one.number == number)
        end_processes(f"{self._directory}/{number} of {lost.run.get('worker')}")

    def _attempt(self, trial: Trial, mark: str) -> None:
        folder = self._directory / "trials" / f"{trial.number:06}"
        folder.mkdir(parents=True, exist_ok=True)
        words = words_of(self._trials.spec["command"], trial, folder)
        of_ddl_train = any(Path(word).name == "ddl-train" for word in words)
        out = out_of(words, folder) if of_ddl_train else None
        environment = {name: value for name, value in os.environ.items() if name not in (RUN, HARVEST)}
        environment.update({MARK: mark, RESULT: str(folder / "result")})
        values = Values(self._trials.spec, of_ddl_train)
        sources = [Lines(folder / "output.txt"), Lines(folder / "result")]
        pruned = False
        with open(folder / "output.txt", "wb") as output:
            try:
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                           env=environment, start_new_session=True, preexec_fn=die_with_parent)
            except OSError as error:
                return self._finish(trial, FAILED, None, values.step, f"{words[0]}: {error.strerror}")
        ended = select.poll()
        handle = os.pidfd_open(process.pid)
        ended.register(handle, select.POLLIN)
        try:
            while not ended.poll(LOOK_AGAIN_S * 1000):
                if self._stopped:
                    return self._trials.give_up(trial)
                if pruned := self._look(trial, values, sources, False):
                    break
        finally:
            os.close(handle)
            end_processes(mark)
            code = process.wait()
        if code != 0:  # a signal that ends the worker, too, may reach it later
            time.sleep(LOOK_AGAIN_S)
        if self._stopped:
            return self._trials.give_up(trial)
        if pruned:
            return self._finish(trial, PRUNED, values.last, values.step)
        if code != 0:
            check_room(folder)
            return self._finish(trial, FAILED, None, values.step,
                                f"exit code {code}" if code > 0 else f"killed by signal {-code}")
        self._look(trial, values, sources, True)
        value = values.last if out is None else value_of_run(out, self._trials.spec["value"], values.last)
        if value is None:
            check_room(folder)
        if value is None or not math.isfinite(value):
            why = "no value" if value is None else f"the value is {value}"
            return self._finish(trial, FAILED, None, values.step, why)
        self._finish(trial, COMPLETE, value, values.step)

    def _look(self, trial: Trial, values: Values, sources: list[Lines], is_last: bool) -> bool:
        """Reports new values. Returns whether the trial should be pruned."""
        for source in sources:
            for line in source.added(is_last):
                if values.take(line) and values.last is not None:
                    with self._trials.lock:
                        if self._trials.store.report(trial, values.step, values.last):
                            return True
        return False

    def _finish(self, trial: Trial, state: str, value: float | None, steps: int, why: str = "") -> None:
        end = {"end_ns": time.monotonic_ns(), "steps": steps, "why": why}
        with self._trials.lock:
            self._trials.store.finish(trial.number, state, value, end)
        if state != FAILED and (harvest := os.environ.get(HARVEST)):
            with open(harvest, "a", encoding="utf-8") as lines:
                lines.write(f"trial {trial.number}\n")

    def _show(self) -> None:
        now_ns = time.monotonic_ns()
        if now_ns > self._table_ns + TABLE_EVERY_S * 1e9:
            write_table(self._trials)
            self._table_ns = now_ns


def check_room(folder: Path) -> None:
    """Raises OSError on a full disk: then a trial has not failed, and the next worker repeats it.

    Writes a file to find out, since the free space that statvfs() reports includes blocks that a quota or a reserve
    withholds.
    """
    probe = folder / ".room"
    try:
        with open(probe, "wb") as file:
            file.write(bytes(ROOM))
            file.flush()
            os.fsync(file.fileno())
    finally:
        probe.unlink(missing_ok=True)


def words_of(command: str, trial: Trial, folder: Path) -> list[str]:
    """The command's words with {NAME} replaced: parameters, {trial} and {out}. ${NAME} is left to the shell."""
    values = {**trial.params, "trial": trial.number, "out": folder}

    def value(found: re.Match[str]) -> str:
        return str(values[found[1]])

    return [re.sub(r"(?<!\$)\{([A-Za-z][\w-]*)\}", value, word) for word in shlex.split(command)]


def out_of(words: list[str], folder: Path) -> Path:
    """The run directory of a ddl-train: as given, or in the trial's folder."""
    for at, word in enumerate(words):
        if word in ("--out", "-o") and at + 1 < len(words):
            return Path(words[at + 1])
        if word.startswith("--out="):
            return Path(word.partition("=")[2])
    words += ["--out", str(folder / "run")]
    return folder / "run"


def value_of_run(run: Path, key: str, otherwise: float | None) -> float | None:
    """A value in the record of a ddl-train, such as loss or accuracy."""
    try:
        record = json.loads((run / "train/run.json").read_text(encoding="utf-8"))
        value = record["result"][key]
        return otherwise if value is None else float(value)
    except (OSError, KeyError, TypeError, ValueError):
        return otherwise
