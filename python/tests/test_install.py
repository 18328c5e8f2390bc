# SPDX-License-Identifier: Apache-2.0
"""pip installs the module from the source tree into a virtual environment. Exit code 77: there is no pip, or it cannot
get the build requirements."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

TREE = Path(__file__).resolve().parents[1]


def said_by(*words: object) -> str:
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, cwd="/").stdout


def crosstalk_version() -> str:
    (version,) = re.findall(r"^project\(crosstalk VERSION (\S+)", (TREE.parent / "CMakeLists.txt").read_text(), re.M)
    return str(version)


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        environment = Path(name) / "environment"
        made = subprocess.run([sys.executable, "-m", "venv", environment], capture_output=True, text=True)
        if made.returncode != 0:
            print("SKIPPED: no virtual environments here (Debian: python3-venv)")
            return 77
        shutil.copytree(TREE, Path(name) / "python", ignore=shutil.ignore_patterns("__pycache__"))
        pip = subprocess.run([environment / "bin/pip", "install", Path(name) / "python"], capture_output=True, text=True)
        if "Could not find a version" in pip.stderr or "Connection" in pip.stderr or "No matching" in pip.stderr:
            print("SKIPPED: pip finds no flit_core to build with")
            return 77
        assert pip.returncode == 0, pip.stderr
        left = {path.name for path in (Path(name) / "python").iterdir()} - {path.name for path in TREE.iterdir()}
        assert not left, f"pip leaves {left} in the source tree"
        python = environment / "bin/python"
        steps = "import crosstalk; print(crosstalk.__file__, list(crosstalk.steps('ab')), crosstalk.records())"
        said = said_by(python, "-c", steps)
        assert said.startswith(str(environment)) and said.endswith(" ['a', 'b'] False\n"), said
        assert "crosstalk-python PROGRAM.py" in said_by(environment / "bin/crosstalk-python", "--help").replace(
            "[--openmetrics FILE] ", "")
        version = said_by(environment / "bin/crosstalk-python", "--version")
        assert version == f"crosstalk-python {crosstalk_version()}\n", version
        assert list(environment.glob("lib/*/site-packages/crosstalk/py.typed")), "its types are for others, too"
    return 0


if __name__ == "__main__":
    sys.exit(main())
