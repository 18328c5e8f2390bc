# SPDX-License-Identifier: Apache-2.0
"""Damaged archives for every program that reads archives: each gives an answer or one line, and none computes from an
archive that trace-info --check calls unsound."""
import os
import shutil

from context import damage

NEEDS = ("interference", "trace-info", "synthetic-run")

# The arguments of each program for an archive; OUT is a name that does not exist yet.
READERS = {
    "trace-info": ("X",),
    "trace-waits": ("X", "--out", "OUT"),
    "trace-path": ("X", "--out", "OUT"),
    "trace-steps": ("X", "--out", "OUT"),
    "trace-cube": ("X", "--out", "OUT"),
    "trace-convert": ("X", "--perfetto", "OUT"),
}
HOLE = 5 << 30


def attempts(context, count):
    planted = PLANTED if context.sanitized else GROWN + PLANTED  # sanitizers do not work under a memory limit
    for number in context.numbers(count):
        run = context.copied_run()
        archive = run / context.random.choice(("train/trace", "noise/here.0/trace"))
        what = planted[number](archive) if number < len(planted) else _mutate(archive, context.random)
        yield f"{what} in {archive.parent.name}", _read_by_all(context, run, archive / "traces.otf2")


def _mutate(archive, rng):
    files = sorted(path for path in archive.rglob("*") if path.is_file())
    weights = [4 if path.suffix in (".otf2", ".def") and path.parent == archive else 1 for path in files]
    chosen = rng.choices(files, weights=weights)[0]
    times = rng.choice((1, 1, 1, 2, 5))
    damage(chosen, rng, times)
    return f"{times} x damaged {chosen.name}"


def _files(archive, suffix):
    return sorted(archive.rglob(f"*{suffix}"), key=lambda path: path.stat().st_size)


def _grown(suffix):
    def plant(archive):
        file = _files(archive, suffix)[-1]
        file.chmod(0o644)
        os.truncate(file, HOLE)
        return f"{suffix} of 5 GiB"
    return plant


def _emptied(suffix):
    def plant(archive):
        file = _files(archive, suffix)[-1]
        file.chmod(0o644)
        os.truncate(file, 0)
        return f"empty {suffix}"
    return plant


def _replaced(suffix, how, make):
    def plant(archive):
        file = _files(archive, suffix)[-1]
        file.unlink()
        make(file)
        return f"{suffix} is {how}"
    return plant


def _removed_events(archive):
    shutil.rmtree(archive / "traces")
    return "no events"


GROWN = [_grown(suffix) for suffix in (".otf2", ".def", ".evt")]
PLANTED = [
    *(_emptied(suffix) for suffix in (".otf2", ".def", ".evt")),
    *(_replaced(suffix, "a pipe", os.mkfifo) for suffix in (".otf2", ".def", ".evt")),
    *(_replaced(suffix, "a device", lambda file: file.symlink_to("/dev/zero")) for suffix in (".otf2", ".def", ".evt")),
    *(_replaced(suffix, "a circle", lambda file: file.symlink_to(file.name)) for suffix in (".otf2", ".evt")),
    _replaced(".evt", "a directory", os.mkdir),
    _removed_events,
]


def _read_by_all(context, run, anchor):
    checked = context.run("trace-info", "--check", anchor)
    failure = context.judge(checked, quiet_codes=(1,) if checked.out.endswith("not sound\n") else ())
    unsound = checked.code != 0
    commands = [(name, *words) for name, words in READERS.items() if context.program(name)]
    if context.program("trace-merge"):
        commands.append(("trace-merge", run / "train/trace/traces.otf2", run / "noise/here.0/trace/traces.otf2",
                         "--out", "OUT"))
    commands.append(("interference", "analyse", run, "--draws", "99"))
    for i, command in enumerate(commands):
        if failure:
            break
        words = [anchor if word == "X" else context.directory / f"out{i}" if word == "OUT" else word for word in command]
        outcome = context.run(*words)
        failure = context.judge(outcome, quiet_codes=(3,))
        if not failure and unsound and command[0] != "trace-info" and outcome.code in (0, 3):
            failure = f"trace-info --check says {checked.out or checked.err!r}, exit code {outcome.code}: {outcome.command}"
    return failure
