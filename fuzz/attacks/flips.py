# SPDX-License-Identifier: Apache-2.0
"""A flipped bit in a run's archives: interference refuses the run, distrusts it with a reason, or gives the same
answer."""
import json

from context import flipped

NEEDS = ("interference", "synthetic-run")


def attempts(context, count):
    truth = None
    for _ in context.numbers(count):
        if truth is None:
            truth = _truth(context)
        run = context.copied_run()
        where = _flip_one(context, run)
        yield where, _judged(context, run, truth)


def _truth(context):
    run = context.copied_run("sound")
    outcome = _analyse(context, run)
    if outcome.code != 0:
        raise RuntimeError(f"the sound run is refused: {outcome.err}{outcome.out}")
    return _verdict(run)


def _flip_one(context, run):
    """Flips one bit. Each bit of all files is equally likely, but half of the flips are outside of events."""
    files = sorted(path for path in run.glob("**/trace/**/*") if path.is_file())
    if context.random.random() < 0.5:
        files = [path for path in files if path.suffix != ".evt"]
    file = context.random.choices(files, weights=[path.stat().st_size for path in files])[0]
    content = file.read_bytes()
    at = context.random.randrange(len(content))
    bit = context.random.randrange(8)
    file.chmod(0o644)
    file.write_bytes(flipped(content, at, bit))
    return f"{file.relative_to(run)} byte {at} bit {bit}"


def _analyse(context, run):
    return context.run("interference", "analyse", run, "--draws", "99")


def _verdict(run):
    return json.loads((run / "report/verdict.json").read_text())


def _judged(context, run, truth):
    outcome = _analyse(context, run)
    failure = context.judge(outcome, quiet_codes=(3,))
    if failure:
        return failure
    if outcome.code not in (0, 3):
        return None
    said = _verdict(run)
    if not said["trustworthy"]:
        return None if said["reasons"] else "distrusted without a reason"
    return _difference(truth, said)


def _difference(truth, said):
    if said["trustworthy"] != truth["trustworthy"]:
        return "trusted"
    if said["factors"].keys() != truth["factors"].keys():
        return f"factors {list(said['factors'])} instead of {list(truth['factors'])}"
    for name, was in truth["factors"].items():
        now = said["factors"][name]
        if now["verdict"] != was["verdict"]:
            return f"{name} is {now['verdict']} instead of {was['verdict']}"
        if now["low_percent"] > was["high_percent"] or now["high_percent"] < was["low_percent"]:
            return f"{name} costs {now['effect_percent']} %, the interval leaves out all of what it was before"
    return None
