# SPDX-License-Identifier: Apache-2.0
"""Damaged specs and directories of sweeps: status, continuation and collection end, each with its result or in one line;
a damaged table is made again from the journal."""
import shutil

import replaced
from context import damage

NEEDS = ("crosstalk",)
SPEC = """kind = sweep
command = sh -c 'echo {way} loss={x}'
parameter x = 0.5..1.5
parameter way = a, b
trials = 4
workers = 1
"""
PYTHON = "/usr/bin/python3"  # Debian's Optuna is for this one


def attempts(context, count):
    originals = {}
    for number in context.numbers(count):
        if not originals:
            originals = {name: _made(context, name) for name in ("Optuna", "no Optuna")}
        name = sorted(originals)[number % len(originals)]
        original = originals[name]
        spec, out = context.directory / "spec.ini", context.directory / "sweep"
        shutil.copy(original.with_suffix(".ini"), spec)
        shutil.copytree(original, out)
        rng = context.random
        files = [out / one for one in ("spec.ini", "sweep.json", "trials.jsonl", "journal.log", "sweep.csv")]
        file = rng.choice([spec, *(one for one in files if one.exists())])
        way = number // len(originals)
        what = replaced.ANY[way](file) if way < len(replaced.ANY) else "damaged " + damage(file, rng, rng.choice((1, 1, 3)))
        yield f"{name}: {what}", _judged(context, spec, out, _environment(context, name), file.name == "sweep.csv")


def _environment(context, name):
    hidden = context.scratch / "hidden"
    if not hidden.exists():
        hidden.mkdir()
        (hidden / "optuna.py").write_text("raise ImportError('hidden')\n")
    return {"PYTHON": PYTHON} if name == "Optuna" else {"PYTHON": PYTHON, "PYTHONPATH": str(hidden)}


def _made(context, name):
    """A finished sweep. Without Optuna its journal has another format."""
    spec = context.scratch / f"sweep with {name}.ini"
    spec.write_text(SPEC)
    done = context.run("crosstalk", "sweep", spec, "-o", spec.with_suffix(""), env=_environment(context, name), timeout=60)
    if done.code != 0:
        raise RuntimeError(f"the sound sweep fails: {done.err}")
    return spec.with_suffix("")


def _judged(context, spec, out, env, is_table):
    for words in (("campaign", "status", out), ("sweep", spec, "-o", out), ("campaign", "collect", out)):
        outcome = context.run("crosstalk", *words, env=env, timeout=6 * context.patience)
        # Each failed trial has a line of its own.
        failed = outcome.code == 3 and all(line.startswith("crosstalk: trial ") for line in outcome.said)
        failure = None if failed else context.judge(outcome)
        if not failure and is_table and words[0] == "sweep" and outcome.code != 0:
            failure = f"a damaged table is not made again: {outcome.err}"
        if failure:
            return failure
    return None
