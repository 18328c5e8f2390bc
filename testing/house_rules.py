#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules of the source tree: who includes whom, who names what, how long things are.

    house_rules.py TREE     one line for each rule that is broken; exit code 1 if any is
"""
import collections
import os
import pathlib
import re
import sys

SIBLINGS = ["noisegen", "ddl-workloads", "analysis"]
BELOW = {  # what a room may include besides itself
    "base": [],
    "trace-tools": ["base"],
    "soft-errors": ["base"],
    **{room: ["base", "trace-tools", "soft-errors"] for room in SIBLINGS},
    "crosstalk": ["base"],
}
OWNED = {"otf2": "trace-tools", "papi": "trace-tools", "torch": "ddl-workloads"}  # <otf2/..>, <papi.h>, <torch/..>
LONGEST_FILE = 400
# Parts of a class that its header does not show, in a header of their own.
PRIVATE_HALVES = ["trace-tools/otf2/write/recorder_state", "trace-tools/replay/engine"]
MOST_FILES = 40  # sources in a folder

# Names by which programs that share only files understand each other: defined in base/contract and nowhere else.
CONTRACT = [
    "bucket_ready", "bucket_exchange", "training stopped", "noise.json", "noise.csv", "traces.otf2", "trace/traces.otf2",
    "verdict.json", "summary.json", "control_delay", "control_settle", "control.delay", "control.sham", "control.pause",
]
DEFINES = {  # files whose subject is a name of the contract
    "control.delay": "noisegen/stressors/control/", "control.sham": "noisegen/stressors/control/",
    "control.pause": "noisegen/stressors/control/",
}


def sources(tree):
    for room in [*BELOW, "testing", "fuzz"]:
        for path in sorted((tree / room).rglob("*")):
            if path.suffix in (".cpp", ".hpp", ".cu"):
                yield path.relative_to(tree).as_posix(), path.read_text()


def is_test(file):
    return "/tests/" in file or file.startswith(("testing/", "fuzz/"))


def stem(file):
    return file.rsplit(".", 1)[0]


def folder(file):
    return file.rsplit("/", 1)[0]


def circles(edges):
    """Groups of folders of which each reaches the others (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges[node]:
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1:
                found.append(sorted(group))

    for node in list(edges):
        if node not in index:
            visit(node)
    return found


def at_depth(edges, depth):
    """Groups the files by folder at this depth: a room within a room is part of it."""
    up = collections.defaultdict(set)
    for here, others in edges.items():
        top = "/".join(here.split("/")[:depth])
        up[top] |= {there for other in others if (there := "/".join(other.split("/")[:depth])) != top}
    return up


def broken(tree):
    edges = collections.defaultdict(set)
    modules = collections.defaultdict(set)  # a header and its source count as one
    files_of = collections.defaultdict(set)
    for file, text in sources(tree):
        room = file.split("/", 1)[0]
        files_of[folder(file)].add(file)
        if len(text.splitlines()) > LONGEST_FILE and not is_test(file):
            yield f"{file} has {len(text.splitlines())} lines, more than {LONGEST_FILE}"
        for included in re.findall(r'^\s*#\s*include "([^"]+)"', text, re.M):
            theirs = included.split("/", 1)[0]
            if "/tests/" in included and folder(included) != folder(file):
                yield f"{file} includes {included}: what tests share belongs to testing/"
            if is_test(file):
                continue
            if theirs == "testing" and "/bench/" not in file:
                yield f"{file} includes {included}, which is for tests, benches and fuzzers"
            elif room in BELOW and theirs in BELOW and theirs != room and theirs not in BELOW[room]:
                yield f"{file} includes {included}: {room} may use {', '.join(BELOW[room]) or 'nothing'} only"
            if theirs in BELOW and stem(included) != stem(file) and not included.endswith(".inc"):
                modules[stem(file)].add(stem(included))
            if theirs == room and folder(included) != folder(file):
                edges[folder(file)].add(folder(included))
        for library, owner in OWNED.items():
            if re.search(rf"^\s*#\s*include <{library}[/.]", text, re.M) and room != owner and not is_test(file):
                yield f"{file} includes <{library}>, which only {owner} does"
        if file.startswith("base/contract/") or is_test(file):
            continue
        for name in CONTRACT:
            if f'"{name}"' in text and not file.startswith(DEFINES.get(name, "base/contract/")):
                yield f'{file} types "{name}", which stands in base/contract'
    for room in [*BELOW, "testing", "fuzz", "jobscripts", "python", "results", "examples"]:
        for script in sorted({*(tree / room).rglob("*.py"), *(tree / room).rglob("*.sh")}):
            if os.access(script, os.X_OK) != script.read_text().startswith("#!"):
                yield f"{script.relative_to(tree)}: executable if, and only if, it begins with #!"
    found = []
    for depth in range(2, 2 + max((where.count("/") for where in edges), default=0)):
        found += [group for group in circles(at_depth(edges, depth)) if group not in found]
    for group in found:
        yield f"folders include each other in a circle: {', '.join(group)}"
    for group in circles(modules):
        if not any(half in group for half in PRIVATE_HALVES):
            yield f"a header includes what includes it: {', '.join(group)}"
    for where, files in sorted(files_of.items()):
        if len(files) > MOST_FILES and not is_test(where + "/"):
            yield f"{where} holds {len(files)} sources, more than {MOST_FILES}: it wants a wall"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(broken(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "all walls stand")
    sys.exit(1 if found else 0)
