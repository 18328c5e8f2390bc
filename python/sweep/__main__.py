# SPDX-License-Identifier: Apache-2.0
"""The part of `crosstalk sweep` that knows Optuna: python3 sweep begin|work|table DIR [CPUS].

begin: creates the journal, or opens it. work: tries trials until all have ended. table: writes the tables and prints a
summary. Exit codes as of all programs; one line on stderr says why.
"""

from __future__ import annotations

import errno
import json
import sys
from pathlib import Path

from table import summary
from trials import Trials, Unavailable
from worker import DiskFull, Worker

UNAVAILABLE = 77


def main() -> int:
    word, directory = sys.argv[1], Path(sys.argv[2])
    try:
        if word == "work":
            return Worker(directory, sys.argv[3]).work()
        trials = Trials(directory)
        if word == "table":
            print(json.dumps(summary(trials)))
        return 0
    except Unavailable as error:
        print(error, file=sys.stderr)
        return UNAVAILABLE
    except (DiskFull, OSError) as error:
        full = isinstance(error, DiskFull) or error.errno in (errno.ENOSPC, errno.EDQUOT)
        print(f"the disk of {directory} is full: free some space and start again" if full else error, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
