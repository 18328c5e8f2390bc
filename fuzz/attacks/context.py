# SPDX-License-Identifier: Apache-2.0
"""Common parts of all attacks: programs, a recorded run, a directory for each try, and the judgement of outcomes."""
import dataclasses
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time

MOST_RSS = 1 << 30
LONGEST_LINE = 1000  # of an error line, paths included


@dataclasses.dataclass
class Outcome:
    command: list
    code: int  # exit code, or -signal
    out: str
    err: str
    seconds: float
    rss: int
    hung: bool

    @property
    def said(self):
        """The lines of stderr that are not of a sanitizer."""
        return [line for line in self.err.splitlines() if line.strip()]


class Context:
    """State of one run of the attacks. `random` is that of the current try; `directory` belongs to the try, and is
    empty at its start."""

    def __init__(self, options):
        self.bin = options.bin.resolve()
        self.tests = self.bin.parent / "tests"
        self.seed = options.seed
        self.first = options.first
        self.patience = options.patience
        self.deadline = time.monotonic() + 60 * options.minutes
        self.kept = options.keep
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="crosstalk-attacks-"))
        self.directory = self.scratch / "try"
        self.part = ""
        self.number = 0
        self.random = random.Random(self.seed)
        self._run = None
        self.sanitized = self._is_sanitized()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.scratch, ignore_errors=True)

    def begin(self, part):
        self.part = part

    def numbers(self, count):
        """Iterates over the tries of a part: sets `number`, `random` and an empty `directory` for each."""
        for number in range(self.first, self.first + count):
            self.number = number
            self.random = random.Random(f"{self.seed} {self.part} {number}")
            self.clear()
            self.directory.mkdir()
            yield number

    def clear(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def keep(self):
        """Moves the files of the current try to the folder of failures, and returns their path."""
        target = self.kept / f"{self.part}-{self.seed}-{self.number}"
        shutil.rmtree(target, ignore_errors=True)
        if self.directory.exists():
            # Sparse files stay sparse.
            self.kept.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", "--sparse=always", self.directory, target], check=False)
        return target

    def out_of_time(self):
        return time.monotonic() > self.deadline

    def program(self, name):
        """The path of a program, or None if this build lacks it."""
        for folder in (self.bin, self.tests):
            if (folder / name).exists():
                return folder / name
        return None

    def run(self, *command, timeout=None, cwd=None, env=None, limits=()):
        """Runs a program and waits; one that hangs is killed. limits: pairs of a resource and its value."""
        words = [str(self.program(command[0]) or command[0]), *map(str, command[1:])]

        def prepare():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for which, most in limits:
                resource.setrlimit(which, (most, most))

        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.monotonic()
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=cwd,
                                       env={**os.environ, **(env or {})}, start_new_session=True, preexec_fn=prepare)
            status, usage, hung = self._await(process, timeout or self.patience)
            return Outcome(words, os.waitstatus_to_exitcode(status), _text(out), _text(err),
                           time.monotonic() - begin, usage.ru_maxrss * 1024, hung)

    def judge(self, outcome, quiet_codes=(), codes=(0, 1, 2, 3, 77)):
        """What is wrong with the end of a program, or None. quiet_codes: exit codes that need no line on stderr."""
        wrong = self._wrong(outcome, quiet_codes, codes)
        return f"{wrong}: {' '.join(outcome.command)}" if wrong else None

    def _wrong(self, outcome, quiet_codes, codes):
        if outcome.hung:
            return f"hung for {outcome.seconds:.0f} s"
        if reports_sanitizer(outcome.err):
            return None if blames_otf2(outcome.err) else f"sanitizer: {first_report(outcome.err)}"
        if outcome.code < 0:
            return f"died of {signal.Signals(-outcome.code).name}"
        if outcome.code not in codes:
            return f"exit code {outcome.code}"
        if outcome.rss > MOST_RSS and not self.sanitized:
            return f"{outcome.rss >> 20} MiB"
        if outcome.code and outcome.code not in quiet_codes and len(outcome.said) != 1:
            return f"{len(outcome.said)} lines of error, exit code {outcome.code}: {outcome.err[:300]!r}"
        own = [line for line in outcome.said if line.startswith(pathlib.Path(outcome.command[0]).name + ": ")]
        if any(len(line) > LONGEST_LINE for line in own):
            return f"a line of {max(map(len, own))} characters"
        return None

    def recorded_run(self):
        """A run directory of two ranks and one noise process, written once; must not be changed."""
        if self._run is None:
            self._run = self.scratch / "recorded"
            written = self.run("synthetic-run", self._run, timeout=120)
            if written.code != 0:
                raise RuntimeError(f"synthetic-run failed: {written.err}")
        return self._run

    def copied_run(self, name="run"):
        """A copy of the recorded run, which the current try may damage."""
        target = self.directory / name
        shutil.copytree(self.recorded_run(), target)
        return target

    def _await(self, process, timeout):
        end = time.monotonic() + timeout
        pause = 0.001
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = status
                return status, usage, False
            if time.monotonic() > end:
                break
            time.sleep(pause)
            pause = min(0.02, pause * 1.5)
        os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        return status, usage, True

    def _is_sanitized(self):
        program = self.program("trace-info")
        return program is not None and b"__asan_init" in program.read_bytes()


def reports_sanitizer(text):
    return "Sanitizer:" in text or "runtime error:" in text


def first_report(text):
    return next(line for line in text.splitlines() if "Sanitizer:" in line or "runtime error:" in line)


def blames_otf2(text):
    """A memory error is OTF2's if one of the two innermost functions is; for that case programs read archives in a
    child."""
    third = text.find("\n    #2 ")
    library = text.find("libopen-trace-format2")
    return library >= 0 and (third < 0 or library < third)


def mutated(content, rng):
    """Changes bytes in one place: flips a bit, replaces a byte, overwrites, removes or repeats some, or cuts off the
    rest."""
    if not content:
        return bytes([rng.randrange(256)])
    at = rng.randrange(len(content))
    length = min(len(content) - at, rng.choice((1, 2, 4, 8, 64)))
    how = rng.randrange(7)
    if how == 0:
        return flipped(content, at, rng.randrange(8))
    if how == 1:
        return content[:at] + bytes([rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))]) + content[at + 1:]
    if how == 2:
        return content[:at] + rng.randbytes(length) + content[at + length:]
    if how == 3:
        return content[:at] + content[at + length:]
    if how == 4:
        return content[:at] + content[at:at + length] * 2 + content[at + length:]
    if how == 5:
        return content[:at] + bytes([rng.choice((0, 255))]) * length + content[at + length:]
    return content[:at]


def flipped(content, at, bit):
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1:]


def damage(path, rng, times=1):
    """Damages a file; returns a description for the try's name."""
    content = path.read_bytes()
    for _ in range(times):
        content = mutated(content, rng)
    path.chmod(0o644)
    path.write_bytes(content)
    return path.name


def _text(file):
    file.seek(0)
    return file.read(1 << 20).decode(errors="replace")
