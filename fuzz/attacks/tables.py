# SPDX-License-Identifier: Apache-2.0
"""Hostile JSON, CSV, INI, .cubex and Kineto traces, the same run twice, and names that a shell, a terminal, a browser
or gnuplot would interpret."""
import csv
import json
import math
import os
import pathlib
import shutil
import xml.etree.ElementTree

from context import damage

NEEDS = ("interference", "trace-info", "synthetic-run")
SEEDS = pathlib.Path(__file__).resolve().parent.parent / "seeds"


def attempts(context, count):
    kinds = (_record, _steps, _twice, _names_in_archive, _names_of_directories, _record, _steps, _config, _cubex, _kineto)
    for number in context.numbers(count):
        kind = kinds[number % len(kinds)]
        if kind is _cubex and not context.program("trace-cube"):
            kind = _steps
        if kind is _kineto and not context.program("trace-convert"):
            kind = _steps
        yield kind(context, number // len(kinds))


# -- JSON next to the archives: it only adds to the report, so it does not change the verdict.

def _deep(file):
    file.write_text('{"host": ' + "[" * 100_000 + "]" * 100_000 + "}")
    return "100,000 brackets"


def _unclosed(file):
    file.write_text('{"a":' * 100_000)
    return "100,000 objects that do not end"


def _wide(file):
    file.write_text("{" + ",".join(f'"{i}":0' for i in range(200_000)) + "}")
    return "200,000 members"


def _huge(file):
    os.truncate(file, 3 << 30)
    return "3 GiB"


def _long(file):
    file.write_text(json.dumps({"host": "x" * 10_000_000}))
    return "a string of 10 MB"


def _odd(file):
    file.write_text('{"host": 1e999, "command_line": {"a": [null]}, "environment": "<script>", "ranks": [[[]]], '
                    '"factor_levels": [1, {"factor": 7, "bytes_per_s": "x"}], "training": []}')
    return "values of other types"


def _pipe(file):
    file.unlink()
    os.mkfifo(file)
    return "a pipe"


RECORDS = (_deep, _wide, _huge, _unclosed, _long, _odd, _pipe)


def _record(context, number):
    run = context.copied_run()
    file = run / ("train/run.json", "noise/here.0/noise.json")[number % 2]
    if number // 2 < len(RECORDS):
        what = RECORDS[number // 2](file)
    else:
        damage(file, context.random, context.random.choice((1, 3, 10)))
        what = "damaged"
    outcome = _analyse(context, run)
    failure = context.judge(outcome, quiet_codes=(3,))
    # Without the noise's record it is unknown whether noise ran as planned: the report is not trustworthy.
    untrusted = file.name == "noise.json" and outcome.code == 3 and "noise.json, cannot be read" in outcome.out
    if not failure and outcome.code != 0 and not untrusted:
        failure = f"exit code {outcome.code}: {outcome.err}"
    return f"{file.name}: {what}", failure


def _analyse(context, run, *more, **how):
    return context.run("interference", "analyse", run, "--draws", "99", *more, **how)


# -- steps.csv

def _row(rank, step, begin=None, length=20_000_000, load=1_000_000, backward=12_000_000):
    begin = step * 20_000_000 if begin is None else begin
    return [rank, step, begin, begin + length, load, backward]


HEADER = ["rank", "step", "begin_ns", "end_ns", "load_ns", "backward_ns"]


def _write_steps(file, run):
    with file.open("w", newline="") as out:
        table = csv.writer(out, lineterminator="\n")
        table.writerow(HEADER)
        for step in range(40):
            for rank in range(2):
                table.writerow(_row(rank, step, begin=step * 20_000_000 + run, length=19_000_000 + 1000 * run + step))


WRONG_CELLS = [(4, "-5"), (5, "1000000000000000000"), (5, "1e308"), (3, "1e308"), (3, "0"), (3, "-9223372036854775808"),
               (2, "9223372036854775807"), (2, "nan"), (5, "inf"), (0, ""), (1, "x" * 10_000_000), (3, "$(id)"),
               (4, "99999999999999999999"), (1, "\x1b[31m"), (4, "20000000")]


def _steps(context, number):
    files = [context.directory / f"{kind}{i}.csv" for kind in "qn" for i in range(2)]
    for run, file in enumerate(files):
        _write_steps(file, run)
    victim = context.random.choice(files)
    if number < len(WRONG_CELLS):
        column, text = WRONG_CELLS[number]
        lines = victim.read_text().splitlines()
        cells = lines[30].split(",")
        cells[column] = text
        lines[30] = ",".join(cells)
        victim.write_text("\n".join(lines) + "\n")
        what = f"{HEADER[column]} = {text[:30]}"
    else:
        damage(victim, context.random, context.random.choice((1, 3)))
        what = "damaged"
    out = context.directory / "out"
    outcome = context.run("interference", "compare", "--quiet", *files[:2], "--noisy", *files[2:], "--out", out)
    failure = context.judge(outcome)
    if not failure and number < len(WRONG_CELLS) and (outcome.code != 1 or "line 31 column" not in outcome.err):
        failure = f"not refused with line and column: {outcome.code} {outcome.err[:300]}"
    if not failure and outcome.code == 0:
        failure = _numbers_that_are_none(out / "compare.csv")
    return f"steps.csv: {what}", failure


def _numbers_that_are_none(file):
    for row in csv.DictReader(file.open()):
        for column, text in row.items():
            if column != "phase" and not math.isfinite(float(text)):
                return f"{column} is {text} in {file.name}"
    return None


# -- one run under two names

def _twice(context, number):
    run = context.recorded_run()
    other = context.directory / "other"
    steps = context.run("trace-steps", run / "train/trace/traces.otf2", "--out", other)
    for i in range(2):
        _write_steps(context.directory / f"n{i}.csv", i)
    ways = [run, run / "train/trace/traces.otf2", run / "train/trace"]
    if steps.code == 0:
        ways.append(other / "steps.csv")
    copy = context.directory / "copy"
    shutil.copytree(run, copy)
    ways.append(copy)
    link = context.directory / "link"
    link.symlink_to(run)
    ways.append(link)
    pairs = [(a, b) for i, a in enumerate(ways) for b in ways[i:]]
    pair = pairs[number % len(pairs)]
    outcome = context.run("interference", "compare", "--quiet", *pair, "--noisy", context.directory / "n0.csv",
                          context.directory / "n1.csv", "--out", context.directory / "out")
    failure = context.judge(outcome)
    if not failure and (outcome.code != 2 or "same run" not in outcome.err):
        failure = f"one run counted twice: {pair}: {outcome.code} {outcome.err}"
    return f"{pair[0].name} and {pair[1].name} are one run", failure


# -- names

HOSTILE = ["<i>", "'a'", '"b"', "$(id>pwned)", "`id>pwned`", "a;id>pwned", "\x1b[31m", "a\nb", "%s%n%d", "&lt;", "--out",
           "<script>alert(1)</script>", "]]>", "\u202eabc", "a,b", "{x}", "\\n", "|id>pwned", "\xff\xfe", "*"]


def _names_of_directories(context, number):
    name = HOSTILE[number % len(HOSTILE)]
    run = context.directory / f"run {name.replace('/', '_')}"
    shutil.copytree(context.recorded_run(), run)
    outcome = _analyse(context, run, cwd=context.directory)
    return f"a run in {name!r}", context.judge(outcome) or _obeyed(context, run, outcome)


def _names_in_archive(context, number):
    """A factor gets a hostile name as long as `mem`, so that the archive stays readable."""
    names = ["<i>", "'a'", '"b"', "`c`", "$x;", "\x1b[m", "a\nb", "%s%", "&a;", "\\a\\", "a,b", "]]>", "{a}", "\u00e9\\"]
    name = names[number % len(names)].encode()
    run = context.copied_run()
    for file in run.rglob("*"):
        if file.is_file() and file.suffix in (".def", ".otf2"):
            content = file.read_bytes()
            file.chmod(0o644)
            file.write_bytes(content.replace(b"mem", name))
    outcome = _analyse(context, run, cwd=context.directory)
    return f"a factor {name!r}", context.judge(outcome, quiet_codes=(3,)) or _obeyed(context, run, outcome)


def _obeyed(context, run, outcome):
    if list(context.directory.rglob("pwned")):
        return "a name was executed"
    if any(ord(c) < 32 and c not in "\n\t" for c in outcome.out + outcome.err):
        return f"a terminal would obey: {outcome.out + outcome.err!r}"
    report = run / "report"
    if not report.exists():
        return None
    page = (report / "index.html").read_text()
    if "<script>alert" in page or "<i></i>" in page or "run <i>" in page:
        return "a browser would obey index.html"
    json.loads((report / "verdict.json").read_text())
    for plot in report.glob("*.svg"):
        try:
            xml.etree.ElementTree.parse(plot)
        except xml.etree.ElementTree.ParseError as error:
            return f"{plot.name} is not well-formed: {error}"
    return None


# -- settings and profiles

def _config(context, _number):
    file = context.directory / "settings.ini"
    if context.random.random() < 0.3:
        shutil.copy(context.random.choice(sorted((SEEDS / "ini").iterdir())), file)
    else:
        file.write_text("threads = 2\njson = true\n")
    damage(file, context.random, context.random.choice((1, 2, 5)))
    outcome = context.run("trace-info", context.recorded_run() / "train/trace/traces.otf2", "--config", file)
    return "damaged settings", context.judge(outcome)


def _cubex(context, _number):
    file = context.directory / "profile.cubex"
    shutil.copy(context.random.choice(sorted((SEEDS / "cubex").iterdir())), file)
    damage(file, context.random, context.random.choice((1, 2, 5)))
    outcome = context.run("trace-cube", context.recorded_run() / "train/trace/traces.otf2", "--against", file)
    return "a damaged cubex", context.judge(outcome, quiet_codes=(3,))


def _kineto(context, _number):
    """A damaged trace that is still readable becomes a sound archive, and that a trace for Perfetto."""
    seed = context.random.choice(sorted((SEEDS / "kineto").iterdir()))
    file = context.directory / seed.name
    shutil.copy(seed, file)
    damage(file, context.random, context.random.choice((1, 1, 2, 5)))
    archive, out = context.directory / "archive", context.directory / "perfetto.json"
    outcome = context.run("trace-convert", file, "-o", archive)
    what, failure = f"a damaged {seed.name}", context.judge(outcome)
    if failure or outcome.code != 0:
        if not failure and archive.exists():
            failure = "an archive was left behind"
        return what, failure
    for command in (("trace-info", archive / "traces.otf2", "--check"),
                    ("trace-convert", archive / "traces.otf2", "--perfetto", out)):
        outcome = context.run(*command)
        failure = context.judge(outcome)
        if not failure and outcome.code != 0:
            failure = f"refused: {outcome.err}"
        if failure:
            return what, failure
    json.loads(out.read_text())
    return what, None
