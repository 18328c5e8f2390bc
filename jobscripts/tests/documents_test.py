#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents are consistent: lengths, links, tables, tests of their commands, and options that the programs have.

Exit code 77 if this is not a git checkout. Options are checked only for the programs in CROSSTALK_BIN.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
SUBCOMMANDS = {"crosstalk": ["run", "cores", "try", "sweep", "view", "diff", "prune", "doctor", "campaign"],
    "noisegen": ["calibrate", "limits", "probe"],
    "ddl-alter": ["difference"],
    "interference": ["analyse", "so-far", "exposure", "compare", "observe", "predict", "controls", "metrics", "explain",
                     "summary", "diff", "outcomes", "checkpoints"],
    "ddl-code": ["plan", "info"],
    "ddl-data": ["generate", "convert", "info"],
}
SCRIPTS = ["jobscripts/local.sh"]

wrong = []


def listed(*patterns):
    command = ["git", "-c", "safe.directory=*", "ls-files", "--", *patterns]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if found.returncode != 0:
        print("SKIPPED: not a git checkout")
        sys.exit(77)
    return [ROOT / name for name in found.stdout.splitlines() if (ROOT / name).is_file()]


def anchors(page):
    """The anchors that GitHub makes of headings."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.lower())
        found.add(re.sub(r"[^\w\- ]", "", heading).replace(" ", "-"))
    return found


def check_lengths(page):
    in_code = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        in_code ^= line.startswith("```")
        most = 120 if page == ROOT / "README.md" or in_code else 100
        if len(line) > most and (page == ROOT / "README.md" or not line.startswith("|")):
            wrong.append(f"{page.relative_to(ROOT)}:{number}: {len(line)} characters, at most {most}")
    if page == ROOT / "README.md" and number > 110:
        wrong.append(f"README.md: {number} lines, at most 110")


def check_links(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(\s*([^)\s]+)\s*\)", text):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        to = (page.parent / name).resolve() if name else page
        if not to.exists():
            wrong.append(f"{page.relative_to(ROOT)}: the link to {target} leads nowhere")
        elif anchor and anchor not in anchors(to):
            wrong.append(f"{page.relative_to(ROOT)}: {name or page.name} has no heading '#{anchor}'")


def commands(page):
    """Command lines of fenced blocks: those after '$ ' where a block has any, else all."""
    for block in re.findall(r"^```\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        lines = block.replace("\\\n", " ").splitlines()
        if any(line.startswith("$ ") for line in lines):
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        for line in lines:
            yield from re.split(r"&&|\|(?=\s)|(?<!&)&(?!&)", line.split("    #")[0])


helps = {}


def help_of(words):
    key = tuple(words)
    if key not in helps:
        helps[key] = subprocess.run([*words, "--help"], capture_output=True, text=True, cwd=ROOT).stdout
    return helps[key]


def check_options(page):
    for command in commands(page):
        try:
            words = shlex.split(command)
        except ValueError:
            continue  # not a command
        for at, word in enumerate(words):
            name = word.removeprefix("build/release/bin/")
            program = BIN / name
            if name in SCRIPTS:
                program = ROOT / name
            elif not (re.fullmatch(r"[a-z-]+", name) and program.is_file()):
                continue
            following = words[at + 1 :]
            called = [str(program)]
            if following and following[0] in SUBCOMMANDS.get(name, []):
                called.append(following[0])
            for option in following:
                if option == "--":
                    break
                if re.match("--[a-z]", option) and option not in ("--help", "--version"):
                    if not re.search(rf"(?<![\w-]){re.escape(option.split('=')[0])}(?![\w-])", help_of(called)):
                        wrong.append(f"{page.relative_to(ROOT)}: {' '.join(called[:1])} has no {option}: {command.strip()}")
            break


def check_commands_run():
    """Each page that shows commands has a test that runs them."""
    tests = (ROOT / "jobscripts/CMakeLists.txt").read_text(encoding="utf-8")
    for page in listed("README.md", "docs/*.md"):
        name = str(page.relative_to(ROOT))
        first = [command.split()[0] for command in commands(page) if command.split()]
        if any((BIN / word).is_file() or word.startswith("./") for word in first) and not (
                name in tests or page.parent.name == "tutorial" and page.stem in tests or f"{page.stem}_test.sh" in tests):
            wrong.append(f"{name}: no test of jobscripts/CMakeLists.txt runs its commands")


def check_pages():
    """Links of pages that are kept for browsers lead to files beside them."""
    for page in listed("results/*.html"):
        for target in re.findall(r'(?:href|src)="([^"#:]+)"', page.read_text(encoding="utf-8")):
            if not (page.parent / target).exists():
                wrong.append(f"{page.relative_to(ROOT)}: the link to {target} leads nowhere")


def check_comments():
    for source in listed("*.hpp", "*.cpp", "*.cu", "*.inc", "*.sh", "*.cmake", "*CMakeLists.txt", "*.sbatch"):
        for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
            comment = re.search(r"(//|#) (.*)", line)
            for name in re.findall(r"[\w/-]+\.md\b", comment[2]) if comment else []:
                if not (ROOT / name).is_file():
                    wrong.append(f"{source.relative_to(ROOT)}:{number}: {name} is not in the repository")


def check_glossary():
    rows = (ROOT / "docs/glossary.md").read_text(encoding="utf-8").split("|---|---|\n")[1].splitlines()
    words = [re.sub("[^a-z0-9 ]", "", row.split("|")[1].strip().lower()) for row in rows]
    for before, after in zip(words, words[1:]):
        if before > after:
            wrong.append(f"docs/glossary.md: '{after}' comes before '{before}' in the alphabet")


def check_phases():
    phases = re.findall(r"^PHASE\((\w+)", (ROOT / "base/contract/phases.inc").read_text(encoding="utf-8"), re.MULTILINE)
    formats = (ROOT / "docs/formats.md").read_text(encoding="utf-8")
    for phase in phases:
        if f"\n| `{phase}_ns` |" not in formats:
            wrong.append(f"docs/formats.md: no row for {phase}_ns of steps.csv")


def check_version():
    """Files that repeat the version of CMakeLists.txt have the same."""
    version = re.search(r"^project\(crosstalk VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    for name, text in (("CITATION.cff", f"\nversion: {version}\n"), ("CHANGELOG.md", f"\n## {version} "),
                       ("README.md", f"version {version}"), ("docs/installing.md", f"crosstalk_{version}_"),
                       ("cmake/packages/crosstalk.def", f"crosstalk_{version}_"),
                       ("python/crosstalk/__init__.py", f'\n__version__ = "{version}"\n')):
        if text not in (ROOT / name).read_text(encoding="utf-8"):
            wrong.append(f"{name} has another version than CMakeLists.txt: no {text.strip()}")


def check_licence():
    for source in listed("*.cpp", "*.hpp", "*.cu", "*.inc", "*.c", "*.h", "*.f90", "*.py", "*.sh", "*.sbatch", "*.cmake",
                         "*CMakeLists.txt"):
        # eBPF programs may call all functions of the kernel only under a licence that the kernel accepts.
        licence = "MIT OR GPL-2.0-only" if "bpf" in source.name or source.name == "interruptions.h" else "Apache-2.0"
        if f"SPDX-License-Identifier: {licence}" not in source.read_text(encoding="utf-8")[:300]:
            wrong.append(f"{source.relative_to(ROOT)} has no SPDX-License-Identifier")


for one in listed("*.md"):
    check_lengths(one)
    check_links(one)
    check_options(one)
check_commands_run()
check_pages()
check_comments()
check_glossary()
check_phases()
check_version()
check_licence()
tables = subprocess.run([sys.executable, ROOT / "results/bench/tables.py", "--check"], capture_output=True, text=True)
if tables.returncode != 0:
    wrong.append("measurements.md or docs/performance.md has other tables than the CSVs of results/bench:\n" + tables.stdout + tables.stderr)
if wrong:
    print("NOT TRUE: the documents keep their promises", *wrong, sep="\n")
    sys.exit(1)
