#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Containerfile is sound as far as this can be checked without a network: its instructions, the files it copies,
and that each command of its shells is a function of the scripts it reads, or a program of a package that it has
installed before.

    container_test.py       building it takes a registry, and is not tried
"""
import pathlib
import re
import shlex
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[2]
INSTRUCTIONS = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "LABEL", "USER", "ENTRYPOINT", "CMD"}
# Programs, and the package of each; None: part of every Debian.
BRINGS = {"cd": None, "rm": None, "useradd": None, "bash": None, "cmake": "cmake", "cpack": "cmake"}


def instructions():
    text = re.sub(r"^#.*\n", "", (TREE / "Containerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            yield word, rest.strip()


def functions():
    found = set()
    for script in ("setup.sh", "guard.sh"):
        found |= set(re.findall(r"^(\w+)\(\)", (TREE / "jobscripts" / script).read_text(encoding="utf-8"), re.MULTILINE))
    return found


def lists():
    """The lists of packages in setup.sh, by name."""
    text = (TREE / "jobscripts/setup.sh").read_text(encoding="utf-8")
    return {name: words.split() for name, words in re.findall(r"^(packages_to_\w+)=\((.*?)\)", text, re.MULTILINE | re.DOTALL)}


def check_shell(rest, installed):
    """Checks one RUN, and adds the packages that it installs."""
    words = [word for word in shlex.split(rest) if not word.startswith("--mount=")]
    script = words[words.index("-euc") + 1] if words[0] == "bash" else rest
    parsed = subprocess.run(["bash", "-n", "-c", script], capture_output=True, text=True, check=False)
    assert parsed.returncode == 0, f"{script}: {parsed.stderr}"
    for command in filter(None, (part.strip() for part in script.split(";"))):
        name, *arguments = command.split()
        if name == ".":
            assert (TREE / arguments[0]).is_file(), f"there is no {arguments[0]}"
        elif name in BRINGS:
            assert BRINGS[name] is None or BRINGS[name] in installed, f"{name} is not installed: {command}"
        else:
            assert name in functions(), f"neither a function of setup.sh nor a known program: {command}"
        if name == "need_packages":
            named = re.findall(r"\$\{(\w+)\[@\]\}", command)
            assert named and set(named) <= set(lists()), f"packages are those of setup.sh: {command}"
            installed.update(package for name in named for package in lists()[name])
        if name == "cmake" and "--preset" in arguments:
            preset = arguments[arguments.index("--preset") + 1]
            assert f'"name": "{preset}"' in (TREE / "CMakePresets.json").read_text(encoding="utf-8"), f"no preset {preset}"


def main():
    stages, user, installed = [], "root", set()
    for word, rest in instructions():
        assert word in INSTRUCTIONS, f"an instruction that buildah may not know: {word}"
        if word == "FROM":
            stages.append(rest.split())
            installed, user = set(), "root"
        elif word == "COPY":
            for source in rest.split()[:-1]:
                assert (TREE / source).exists(), f"COPY {rest}: there is no {source}"
        elif word == "USER":
            user = rest
        elif word == "RUN":
            check_shell(rest, installed)
        elif word == "ENTRYPOINT":
            assert rest == '["/usr/bin/crosstalk"]', rest
    assert [stage[0] for stage in stages] == ["${debian}"] * 2, "both stages are the same Debian: libraries fit"
    assert user != "root", "it runs as a user"
    ignored = (TREE / ".containerignore").read_text(encoding="utf-8").splitlines()
    assert "build" in ignored and ".git" not in ignored, ignored
    print(f"{len(stages)} stages, {len(installed)} packages to run")


if __name__ == "__main__":
    main()
