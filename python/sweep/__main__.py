# SPDX-License-Identifier: Apache-2.0
"""The part of `crosstalk sweep` that knows Optuna: python3 sweep check|begin|work|table DIR [CPUS].

check: refuses a value-line that is no regular expression. begin: creates the journal, or opens it. work: tries trials
until all have ended. table: writes the tables and prints a summary. Exit codes as of all programs; one line on stderr
says why.
"""

from __future__ import annotations

import errno
import json
import re
import sys
from pathlib import Path

from table import summary, write_table
from trials import Trials, Unavailable
from worker import Worker

WRONG_USAGE = 2
UNAVAILABLE = 77


def main() -> int:
    word, directory = sys.argv[1], Path(sys.argv[2])
    try:
        if word == "work":
            return Worker(directory, sys.argv[3]).work()
        if word == "check":
            return check(json.loads((directory / "sweep.json").read_text(encoding="utf-8"))["value_line"])
        trials = Trials(directory)
        if word == "table":
            print(json.dumps(summary(trials)))
        else:
            write_table(trials)
        return 0
    except Unavailable as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE
    except OSError as error:
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        print(f"the disk of {directory} is full: free some space and start again" if full else error, file=sys.stderr)
    except Exception as error:
        print(f"{directory}: {type(error).__name__}: {error} (is the sweep's journal damaged?)", file=sys.stderr)
    return 1


def check(pattern: str) -> int:
    try:
        why = "" if re.compile(pattern).groups else "needs a group, such as loss ([0-9.]+)"
    except re.error as error:
        why = str(error)
    if why:
        print(f"value-line {pattern}: {why}", file=sys.stderr)
    return WRONG_USAGE if why else 0


if __name__ == "__main__":
    sys.exit(main())
