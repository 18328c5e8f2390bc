# SPDX-License-Identifier: Apache-2.0
"""Files that a run leaves on disk: tables end with a whole row; archives are complete, absent or refused in one
line."""
import dataclasses
import os
import pathlib
import signal
import time

from context import reports_sanitizer

MARK = "CROSSTALK_ATTACK"


def judged(context, outcome):
    """What is wrong with the end of a program, or None. Notes that it printed before are neither a failure nor its
    reason."""
    lines = outcome.err.splitlines()
    program = pathlib.Path(outcome.command[0]).name
    if not outcome.hung and outcome.code in (0, 3) and not reports_sanitizer(outcome.err):
        return None
    if lines and all(line.startswith(f"{program}: ") for line in lines):
        outcome = dataclasses.replace(outcome, err=lines[-1] + "\n")
    return context.judge(outcome)


def broken_tables(directory):
    """The first CSV below `directory` that does not consist of whole rows, or None."""
    for path in sorted(pathlib.Path(directory).rglob("*.csv")):
        content = path.read_bytes()
        if not content:
            continue  # its header is still being written
        lines = content.decode(errors="replace").split("\n")
        width = lines[0].count(",")
        if lines[-1] != "" or any('"' not in line and line.count(",") != width for line in lines[:-1]):
            return f"{path.name} has a row that is cut off"
    return None


def broken_archives(context, directory):
    """The first archive below `directory` that is neither read nor refused in one line, or None."""
    for anchor in sorted(pathlib.Path(directory).rglob("traces.otf2")):
        failure = context.judge(context.run("trace-info", anchor), codes=(0, 1))
        if failure:
            return f"{anchor.relative_to(directory)}: {failure}"
    return None


def incomplete_archives(context, directory):
    """The first archive under its final name that cannot be read, or None."""
    for anchor in sorted(pathlib.Path(directory).rglob("traces.otf2")):
        if any(part.endswith(".tmp") for part in anchor.parts):
            continue
        outcome = context.run("trace-info", anchor)
        if outcome.code != 0:
            return f"{anchor.relative_to(directory)} is there, but not complete: {outcome.err.strip()}"
    return None


def marked(value):
    """Processes that were started with the mark. Zombies have no environment, so they do not count."""
    word = f"{MARK}={value}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            if word in pathlib.Path(f"/proc/{entry}/environ").read_bytes().split(b"\0"):
                found.append(int(entry))
        except OSError:
            pass
    return found


def alive_after(value, seconds):
    """Names the marked processes that still run after a while, or None. They are killed."""
    end = time.monotonic() + seconds
    while marked(value):
        if time.monotonic() > end:
            left = marked(value)
            names = [_name(pid) for pid in left]
            for pid in left:
                _kill(pid)
            return f"still alive after {seconds} s: {', '.join(names)}"
        time.sleep(0.02)
    return None


def _name(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")[:80]
    except OSError:
        return str(pid)


def _kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
