#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/tutorial/pictures.py makes each picture that the pages show, and those in the repository are small.

Exit code 77: this machine cannot draw pages (see there).
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

TUTORIAL = pathlib.Path(__file__).resolve().parents[2] / "docs/tutorial"


def size_of(picture):
    """Width and height of a PNG by its header; asserts that it also ends as a PNG does."""
    data = picture.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[-8:-4] == b"IEND", f"{picture} is no whole PNG"
    return struct.unpack(">II", data[16:24])


def main():
    shown = {name for page in TUTORIAL.glob("*.md")
             for name in re.findall(r"!\[[^]]+\]\(pictures/([\w-]+\.png)\)", page.read_text(encoding="utf-8"))}
    kept = {picture.name for picture in (TUTORIAL / "pictures").iterdir()}
    assert len(shown) >= 12 and shown == kept, f"shown and not kept: {shown - kept}; kept and not shown: {kept - shown}"
    total = sum((TUTORIAL / "pictures" / name).stat().st_size for name in kept)
    assert total < 1_500_000, f"pictures take {total} bytes"
    with tempfile.TemporaryDirectory(prefix="crosstalk-pictures.") as folder:
        done = subprocess.run([TUTORIAL / "pictures.py", "--small", "--out", folder], text=True, stdout=subprocess.PIPE)
        print(done.stdout)
        if done.returncode == 77:
            return 77
        assert done.returncode == 0, f"pictures.py ended with {done.returncode}"
        made = {picture.name: picture for picture in pathlib.Path(folder).iterdir()}
        assert set(made) == shown, f"made and not shown, or the other way round: {set(made) ^ shown}"
        for name, picture in made.items():
            width, height = size_of(picture)
            assert 1000 <= width <= 2000 and 100 <= height <= 2000, f"{name} is {width} x {height}"
            assert picture.stat().st_size > 3000, f"{name} is nearly empty: {picture.stat().st_size} bytes"
    return 0


if __name__ == "__main__":
    sys.exit(main())
