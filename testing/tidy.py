#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy on some sources, from a build by GCC: leaves out the options and precompiled headers that clang cannot read.

    tidy.py BUILD_FOLDER SOURCE...     findings on stdout; exit code 1 if there are any
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

NOT_FOR_CLANG = (r" -(fpch-preprocess|Wno-restrict|Wno-subobject-linkage|Wshadow=local|Wno-maybe-uninitialized"
                 r"|Winvalid-pch|-param=\S+|fsanitize=\S+|fno-sanitize=\S+|include \S*cmake_pch\S*)(?= )")


def members(unity):
    """The sources that a unity build compiles as this one."""
    return re.findall(r'^#include "(/.*\.cpp)"', pathlib.Path(unity).read_text(), re.M)


def each_by_itself(command):
    """The command, or for the source of a unity build one command for each of its members."""
    if "/Unity/unity_" not in command["file"]:
        return [command]
    return [{**command, "file": member, "command": command["command"].replace(command["file"], member)}
            for member in members(command["file"])]


def main(build, *sources):
    commands = json.loads(pathlib.Path(build, "compile_commands.json").read_text())
    commands = [each for command in commands for each in each_by_itself(command)]
    for command in commands:
        command["command"] = re.sub(NOT_FOR_CLANG, "", command["command"])
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "compile_commands.json").write_text(json.dumps(commands))
        return subprocess.run(["clang-tidy", "-p", folder, "--quiet", *sources], check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(1 if main(*sys.argv[1:]) else 0)
