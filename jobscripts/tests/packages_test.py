#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/installing.md and CONTRIBUTING.md have exactly the packages that setup.sh installs."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
setup = (ROOT / "jobscripts/setup.sh").read_text(encoding="utf-8")
installing, contributing = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/installing.md", "CONTRIBUTING.md"))
wrong = []
for list_name, page, heading in (("build", installing, "To build"), ("run", installing, "To run"),
                                 ("check", contributing, "Packages of the tests")):
    installed = re.search(rf"^packages_to_{list_name}=\((.*?)\)", setup, re.DOTALL | re.MULTILINE)[1].split()
    section = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)[1]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line.startswith("| `")]
    documented = [row[0].strip("`") for row in rows]
    wrong += [f"{heading}: {name} is installed, and not in the table" for name in installed if name not in documented]
    wrong += [f"{heading}: {name} is in the table, and not installed" for name in documented if name not in installed]
    wrong += [f"{heading}: {row[0]} lacks its version, or what it buys" for row in rows if len(row) != 4 or not all(row)]
if wrong:
    print("NOT TRUE: the packages are documented", *wrong, sep="\n")
    sys.exit(1)
