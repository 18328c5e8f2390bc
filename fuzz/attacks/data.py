# SPDX-License-Identifier: Apache-2.0
"""Damaged data sets, and pipes and devices instead of files: ddl-data names what is wrong in one line."""
import shutil

import replaced
from context import damage

NEEDS = ("ddl-data",)
FORMATS = ("hdf5", "mnist", "shards", "cifar10")


def attempts(context, count):
    originals = None
    for number in context.numbers(count):
        originals = originals or _originals(context)
        kind = FORMATS[number % len(FORMATS)]
        target = context.directory / originals[kind].name
        if originals[kind].is_dir():
            shutil.copytree(originals[kind], target)
        else:
            shutil.copy(originals[kind], target)
        files = sorted(path for path in [target, *target.rglob("*")] if path.is_file())
        if number // len(FORMATS) < len(PLANTED):
            what = PLANTED[number // len(FORMATS)](files[0])
        else:
            what = "damaged " + damage(context.random.choice(files), context.random, context.random.choice((1, 1, 3)))
        yield f"{kind}: {what}", _read(context, kind, target)


def _originals(context):
    made = {}
    for kind in FORMATS:
        target = context.scratch / "sets" / (f"{kind}.h5" if kind == "hdf5" else kind)
        target.parent.mkdir(exist_ok=True)
        outcome = context.run("ddl-data", "generate", "synthetic", "--samples", 60, "--to", kind, "--out", target)
        if outcome.code != 0:
            raise RuntimeError(f"ddl-data cannot make {kind}: {outcome.err}")
        made[kind] = target
    return made


def _read(context, kind, path):
    name = f"{kind}[path={path}]"
    commands = (("info", "--check", path), ("info", name),
                ("convert", name, "--to", "shards", "--out", context.directory / "converted"))
    for command in commands:
        # Records of 5 GiB are read completely: three seconds a GiB if memory is slow.
        outcome = context.run("ddl-data", *command, timeout=3 * context.patience)
        failure = context.judge(outcome, quiet_codes=(1,) if "--check" in command and outcome.out else ())
        if failure:
            return failure
    return None


def _brackets(file):
    file.write_text("[" * 100_000)
    return f"{file.name} is 100,000 brackets"


PLANTED = (*replaced.ANY, _brackets)

