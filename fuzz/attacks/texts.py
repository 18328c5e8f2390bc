# SPDX-License-Identifier: Apache-2.0
"""Hostile texts: escape sequences in records reach no terminal, names that are not UTF-8 lose no report, impossible
sizes of a job end no program, and a truncated compressed file is not taken for complete."""
import gzip
import json
import os
import pathlib

import leftovers

NEEDS = ("interference", "synthetic-run")
ESCAPES = ("\x1b]0;pwned\x07", "\x1b[31mred", "\u009b31m", "\u202ereversed", "\x07", "a\rb", "\x08\x08", "\x7f")
CODES = set(range(0x20)) - {0x0A} | {0x7F} | set(range(0x80, 0xA0)) | {0x202E, 0x2066}
PYTHON = pathlib.Path(__file__).parents[2] / "python"
MARKS = "import crosstalk\nfor i in range(20): crosstalk.step()\nprint('done')\n"


def attempts(context, count):
    kinds = [_record, _name]
    if _mark_library(context):
        kinds.append(_job_size)
    if context.program("trace-convert"):
        kinds.append(_packed)
    for number in context.numbers(count):
        yield kinds[number % len(kinds)](context)


def _shown(text):
    """What a terminal would interpret, or None."""
    found = sorted({ord(letter) for letter in text if ord(letter) in CODES})
    return f"on the terminal: {[hex(code) for code in found]}" if found else None


def _record(context):
    """A text in a record is an escape sequence."""
    run = context.copied_run()
    file = context.random.choice(sorted(run.glob("**/*.json")))
    record = json.loads(file.read_text())
    places = []

    def walk(value):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if isinstance(inner, (dict, list)):
                walk(inner)
            elif isinstance(inner, str):
                places.append((value, key))

    walk(record)
    where, key = context.random.choice(places)
    where[key] = context.random.choice(ESCAPES) + str(where[key])
    file.write_text(json.dumps(record))
    outcome = context.run("interference", "analyse", run, "--draws", "99", timeout=3 * context.patience)
    failure = context.judge(outcome) or _shown(outcome.out) or _shown(outcome.err)
    return f"{key} of {file.name}", failure


def _name(context):
    """A run in a folder whose name is not UTF-8 is analysed nevertheless."""
    folder = os.fsencode(context.directory) + b"/caf" + bytes([context.random.choice((0xE9, 0xFF, 0xC3))])
    os.mkdir(folder)
    os.rename(context.copied_run(), folder + b"/run")
    outcome = context.run("interference", "analyse", os.fsdecode(folder + b"/run"), "--draws", "99",
                          timeout=3 * context.patience)
    failure = context.judge(outcome)
    if not failure and not os.path.exists(folder + b"/run/report/index.html"):
        failure = "no report"
    return f"a folder called {folder[-4:]!r}", failure


def _mark_library(context):
    return next((context.bin.parent / "lib").glob("**/libcrosstalk-mark.so"), None) if not context.sanitized else None


def _job_size(context):
    """The variables of a launcher have arbitrary values: the user's program runs to its end."""
    rank, size = context.random.choice((("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                                        ("PMI_RANK", "PMI_SIZE")))
    values = ("0", "-1", "2147483648", "999999999999", "x", "", "1e9", "2000000000", " 1")
    env = {rank: context.random.choice(values), size: context.random.choice(values), "PYTHONPATH": str(PYTHON),
           "CROSSTALK_MARK_LIBRARY": str(_mark_library(context)), "CROSSTALK_OUT": str(context.directory / "run"),
           leftovers.MARK: str(context.directory)}
    outcome = context.run("python3", "-c", MARKS, env=env, timeout=30)
    failure = "it hung" if outcome.hung else None
    if not failure and (outcome.code != 0 or outcome.out != "done\n"):
        failure = f"exit code {outcome.code}: {outcome.err[-300:]!r}"
    return f"{rank}={env[rank]!r}, {size}={env[size]!r}", failure


def _packed(context):
    """A compressed trace that is truncated or damaged."""
    events = [{"ph": "X", "name": f"n{i}", "cat": "cpu_op", "pid": 1, "tid": 2, "ts": 10 * i, "dur": 5}
              for i in range(2000)]
    name = context.random.choice(("t.json.gz", "t.jsonl.gz"))
    lines = [json.dumps(event) for event in events]
    text = "\n".join(lines) if name == "t.jsonl.gz" else f'{{"traceEvents": [{",".join(lines)}]}}'
    file = context.directory / name
    packed = gzip.compress(text.encode())
    at = context.random.randrange(20, len(packed) - 1)
    cut = context.random.random() < 0.5
    file.write_bytes(packed[:at] if cut else packed[:-6] + bytes([packed[-6] ^ 1]) + packed[-5:])
    outcome = context.run("trace-convert", file, "-o", context.directory / "out")
    failure = context.judge(outcome)
    if not failure and outcome.code == 0:
        failure = "taken for whole"
    return f"{name} {'cut off at ' + str(at) if cut else 'with another checksum'}", failure
