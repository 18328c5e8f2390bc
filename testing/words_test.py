#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Comments begin with their subject, and use the field's words.

    words_test.py TREE     one line for each comment that does not; exit code 1 if any does not
"""
import pathlib
import re
import subprocess
import sys

SOURCES = (".cpp", ".hpp", ".inc", ".c", ".h", ".cu")
WITHOUT_SUBJECT = re.compile(r"\s*// ?(Of|What|Who|Whoever|Whose|That which|So many|None of) ")
PRIVATE = re.compile(
    r"\b(tells?|told|nobody|whoever|goes on|go on|made good|puts? aside|obeys?|hears?|wish(es)?|by itself|"
    r"the others?'|beside which|at once with|strangers?)\b", re.IGNORECASE)


def comments(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if re.match(r"\s*//", line):
            yield number, line.strip()


def faults(path):
    for number, comment in comments(path):
        if WITHOUT_SUBJECT.match(comment):
            yield f"{number}: begins without a subject: {comment}"
        if word := PRIVATE.search(comment):
            yield f"{number}: '{word[0]}' is no word of the field: {comment}"


def main(tree):
    # Each rule finds a line of its own kind, or it could not find any.
    assert WITHOUT_SUBJECT.match("    // What a rank holds.") and PRIVATE.search("// as the node tells")
    listed = subprocess.run(["git", "-c", "safe.directory=*", "ls-files"], cwd=tree, capture_output=True, text=True)
    if listed.returncode != 0:
        print("SKIPPED: not a git checkout")
        sys.exit(77)
    files = [tree / name for name in listed.stdout.splitlines() if name.endswith(SOURCES) and "/tests/" not in name]
    found = [f"{file.relative_to(tree)}:{fault}" for file in files if file.exists() for fault in faults(file)]
    print("\n".join(found) or f"comments of {len(files)} files read well")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
