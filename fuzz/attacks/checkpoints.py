# SPDX-License-Identifier: Apache-2.0
"""Damaged checkpoints of each format: a training resumes from the newest sound one, with the same weights, or refuses in
one line."""
import json
import shutil

import replaced
from context import damage

NEEDS = ("ddl-train",)
TRAINING = ("--model", "emulated[compute=100us,gradients=64kB,buckets=2]", "--data", "synthetic[samples=160]",
            "--trace", "off", "--cpus", "0")
ALONE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def attempts(context, count):
    originals = {}
    truth = None
    for number in context.numbers(count):
        if not originals:
            for form in _formats(context):
                originals[form] = context.scratch / f"trained-{form}"
                _result(_train(context, originals[form], "--steps", 20, "--checkpoint-every", 5, "--checkpoint-format",
                               form))
            truth = _result(_train(context, context.scratch / "straight", "--steps", 30))["checksum"]
        # Each format in turn, and each way to replace a file for each format.
        form = sorted(originals)[number % len(originals)]
        way = number // len(originals)
        original = originals[form]
        run = context.directory / "run"
        shutil.copytree(original, run)
        files = sorted(path for path in (run / "train/checkpoints").rglob("*") if path.is_file())
        if way < len(replaced.ANY):
            what = replaced.ANY[way](files[-1])
        else:
            rng = context.random
            what = "damaged " + ", ".join(damage(file, rng) for file in rng.sample(files, rng.choice((1, 1, 2, len(files)))))
        yield f"{form}: {what}", _resumed(context, run, truth)


def _train(context, out, *more):
    return context.run("ddl-train", *TRAINING, "--json", "--out", out, *more, env=ALONE, timeout=3 * context.patience)


def _formats(context):
    listed = context.run("ddl-train", "--list", "--json", env=ALONE, timeout=context.patience)
    return [one["name"] for one in json.loads(listed.out)["checkpoint_formats"]]


def _result(outcome):
    if outcome.code != 0:
        raise RuntimeError(f"the sound training fails: {outcome.err}")
    return json.loads(outcome.out.splitlines()[-1])


def _resumed(context, run, truth):
    outcome = _train(context, context.directory / "resumed", "--steps", 30, "--resume", run)
    # The checkpoints that it skipped are named, one a line, before the line with the reason for its end.
    if outcome.code == 0:
        failure = context.judge(outcome)
        if not failure and _result(outcome)["checksum"] != truth:
            failure = f"other weights than those of a training without a break: {outcome.command}"
        return failure
    lines = [line for line in outcome.said if line.startswith("ddl-train: ")]
    if outcome.code > 0 and not outcome.hung and lines == outcome.said and len(lines) <= 8:
        return None
    return context.judge(outcome) or f"{len(lines)} lines of error"
