# SPDX-License-Identifier: Apache-2.0
"""Records what the checkpoints of a PyTorch training cost: a row of DIR/train/checkpoints.csv for each save and rank."""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from crosstalk._marks import marks

COLUMNS = "step,rank,format,content,by,mode,fsync,begin_ns,stall_ns,copy_ns,write_ns,sync_ns,bytes,compress"


def _is_file(target: Any) -> bool:
    if isinstance(target, (str, os.PathLike)):
        return True
    try:
        target.fileno()
    except (AttributeError, OSError, ValueError):  # io.BytesIO, for example: a copy in memory
        return False
    return True


def _position(target: Any) -> int:
    """Bytes in the file so far, or 0 if that is unknown."""
    try:
        return os.path.getsize(target) if isinstance(target, (str, os.PathLike)) else int(target.tell())
    except (AttributeError, OSError, ValueError):
        return 0


def _content(saved: Any) -> str:
    """"weights" for a module, and for dictionaries of tensors only; else "training"."""
    torch = sys.modules["torch"]
    if isinstance(saved, (torch.nn.Module, torch.Tensor)):
        return "weights"
    if isinstance(saved, Mapping) and saved and all(_content(one) == "weights" for one in saved.values()):
        return "weights"
    return "training"


class Saves:
    """Records saves once the training takes steps. A save within another one is part of that."""

    def __init__(self) -> None:
        self.training_thread: Callable[[], int] = threading.get_ident
        self.inside = threading.local()
        self.failed = False

    def add(self, begin_ns: int, stall_ns: int, write_ns: int, size: int, *words: str, step: int) -> None:
        """Appends a row; `words` are the columns format to fsync. A failure is one line, and the program continues."""
        run = marks.run()
        if run is None or self.failed or marks.rank() < 0:
            return
        table = Path(run) / "train" / "checkpoints.csv"
        row = ",".join(map(str, (step, marks.rank(), *words, begin_ns, stall_ns, 0, write_ns, 0, size, "none")))
        try:
            if not table.exists():
                self.make(table)
            with open(table, "ab", buffering=0) as file:
                file.write(f"{row}\n".encode())
        except OSError as error:
            self.failed = True
            print(f"crosstalk: {error}; checkpoints are no longer recorded", file=sys.stderr)

    @staticmethod
    def make(table: Path) -> None:
        """Creates the table, which appears with its header even if several ranks do so at the same time."""
        own = table.with_name(f".{table.name}.{marks.rank()}")
        own.write_text(COLUMNS + "\n")
        try:
            os.link(own, table)
        except FileExistsError:
            pass
        finally:
            own.unlink()

    @contextmanager
    def whole(self) -> Iterator[bool]:
        """True if a save that begins here is to be recorded."""
        outermost = marks.begun() and not getattr(self.inside, "save", False)
        if outermost:
            self.inside.save = True
        try:
            yield outermost
        finally:
            if outermost:
                self.inside.save = False

    def of_file(self, save: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps torch.save. A call on another thread than the training's counts as asynchronous."""

        @functools.wraps(save)
        def recorded(*arguments: Any, **named: Any) -> Any:
            target = arguments[1] if len(arguments) > 1 else named.get("f")
            own = threading.get_ident() == self.training_thread()
            with self.whole() as outermost:
                if not outermost or not (_is_file(target) if own else isinstance(target, (str, os.PathLike))):
                    return save(*arguments, **named)
                before = 0 if isinstance(target, (str, os.PathLike)) else _position(target)
                step, begin_ns = marks.done, time.monotonic_ns()
                save(*arguments, **named)
                took_ns = time.monotonic_ns() - begin_ns
                saved = arguments[0] if arguments else named.get("obj")
                by = "rank0" if marks.rank() == 0 else "all"
                mode = "sync" if own else "async"
                size = _position(target) - before
                self.add(begin_ns, took_ns if own else 0, took_ns, size, "torch", _content(saved), by, mode, "no",
                         step=step)
                return None

        return recorded

    def of_shards(self, save: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps save(), save_state_dict() and async_save() of torch.distributed.checkpoint."""

        @functools.wraps(save)
        def recorded(*arguments: Any, **named: Any) -> Any:
            with self.whole() as outermost:
                if not outermost or threading.get_ident() != self.training_thread():
                    return save(*arguments, **named)
                step, begin_ns = marks.done, time.monotonic_ns()
                result = save(*arguments, **named)
                stall_ns = time.monotonic_ns() - begin_ns
                writer = named.get("storage_writer") or next((one for one in arguments[1:] if hasattr(one, "path")), None)
                folder = getattr(writer, "path", None) or named.get("checkpoint_id")
                saved = arguments[0] if arguments else named.get("state_dict")
                words = ["dcp", _content(saved), "sharded", "sync",
                         "yes" if getattr(writer, "sync_files", True) else "no"]
                written = getattr(result, "upload_completion", result)
                if not hasattr(written, "add_done_callback"):
                    self.add(begin_ns, stall_ns, stall_ns, _size_of_shards(folder), *words, step=step)
                    return result
                words[3] = "async"

                def done(future: Any) -> None:
                    if future.cancelled() or future.exception() is not None:
                        return
                    beside_ns = time.monotonic_ns() - begin_ns - stall_ns
                    self.add(begin_ns, stall_ns, beside_ns, _size_of_shards(folder), *words, step=step)

                written.add_done_callback(done)
                return result

        return recorded


def _size_of_shards(folder: Any) -> int:
    """Bytes of this rank's files in a directory of torch.distributed.checkpoint; 0 if it is not on a file system."""
    distributed = sys.modules["torch"].distributed
    rank = distributed.get_rank() if distributed.is_available() and distributed.is_initialized() else 0
    try:
        return sum(file.stat().st_size for file in Path(folder).glob(f"__{rank}_*"))
    except (OSError, TypeError):
        return 0


saves = Saves()
