#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What altering a stored state costs compared with h5py, cp and cmp, in pairs of whole processes: rows for the table of
results/bench/measurements.md. For a quiet machine with 13 GiB free on the disk of --scratch; 15 pairs take about half an hour.

    alter.py --out FILE.csv --machine NAME --load TEXT [--pairs 15] [--only flips,copy,difference]

    flips        100,000 flips in 89 MB compared with h5py, element by element; 10 flips in 4 GiB in place
    copy         10 flips in a copy, compared with cp: of 89 MB and of 4 GiB
    difference   two equal states, compared with cmp: of 89 MB and of 4 GiB

CROSSTALK_BIN names the folder of the programs. Exit code 77: no h5py here. A quick run leaves 4 GiB out."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import bench_rows

try:
    import h5py
    import numpy as np
except ImportError:
    print("SKIPPED: no python3-h5py")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
DDL_ALTER = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin")) / "ddl-alter"
MIB = 1 << 20
SMALL, LARGE = "89 MB", "4 GiB"
BYTES = {SMALL: 89_000_000, LARGE: 4096 * MIB}
FLIPS = 100_000
FLIPS_BY_H5PY = FLIPS // 10  # time per flip is constant

Work = Callable[[int], float]  # takes the number of a pair, returns seconds


def seconds_of(*words: object) -> float:
    begin = time.perf_counter()
    done = subprocess.run([str(word) for word in words], check=False, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - begin
    if done.returncode != 0:
        sys.exit(f"alter.py: {words[0]} failed")
    return seconds


def write_state(path: pathlib.Path, size: int) -> None:
    with h5py.File(path, "w") as file:
        weights = file.create_dataset("model/weight", shape=(size // 4,), dtype="<f4")
        normal = np.random.default_rng(1)
        for begin in range(0, size // 4, 16 * MIB):
            some = min(16 * MIB, size // 4 - begin)
            weights[begin:begin + some] = (0.05 * normal.standard_normal(some)).astype("<f4")


def flips_by_h5py(path: pathlib.Path) -> float:
    """Seconds of FLIPS flips by h5py, one number after the other, as hdf5_corrupter does; measured with fewer."""
    begin = time.perf_counter()
    with h5py.File(path, "r+") as file:
        weights = file["model/weight"]
        for index in np.random.default_rng(2).integers(0, weights.shape[0], FLIPS_BY_H5PY):
            word = np.float32(weights[index]).view("u4") ^ np.uint32(1 << 20)
            weights[index] = word.view("f4")
    return (time.perf_counter() - begin) * FLIPS / FLIPS_BY_H5PY


class Bench:
    def __init__(self, rows: bench_rows.Rows, scratch: pathlib.Path, pairs: int) -> None:
        self.rows = rows
        self.scratch = scratch
        self.pairs = pairs

    def state(self, size: str) -> pathlib.Path:
        path = self.scratch / f"{BYTES[size]}.h5"
        if not path.exists():
            write_state(path, BYTES[size])
        return path

    def alter(self, path: pathlib.Path, number: int, flips: int, *where: object) -> float:
        for earlier in self.scratch.glob("record.*"):
            earlier.unlink()
        return seconds_of(DDL_ALTER, path, "--flips", flips, "--bits", "9-31", "--seed", number, "--record",
                          self.scratch / "record.json", *where)

    def pair(self, case: str, peer: str, ours: Work, theirs: Work, most: float) -> None:
        """Times both sides in turns; each is first in every other pair."""
        found: list[tuple[float, float]] = []
        for number in range(self.pairs):
            other = theirs(number) if number % 2 else None
            own = ours(number)
            found.append((own, theirs(number) if other is None else other))
        for quantity, values in (("ours", [own for own, _ in found]), ("beside", [other for _, other in found])):
            self.rows.add(case, peer, quantity, "ms", *(1e3 * value for value in bench_rows.median_interval(values)))
        self.rows.add(case, peer, "ratio", "", *bench_rows.median_interval([own / other for own, other in found]))
        self.rows.add(case, peer, "pairs", "", str(self.pairs))
        self.rows.add(case, peer, "at most", "", most)

    def flips(self, sizes: list[str]) -> None:
        small = self.state(SMALL)
        self.pair(f"{FLIPS} flips in {SMALL}", "h5py, element by element",
                  lambda number: self.alter(small, number, FLIPS, "--in-place"), lambda _: flips_by_h5py(small), 0.02)
        if LARGE not in sizes:
            return
        large = self.state(LARGE)
        values = [self.alter(large, number, 10, "--in-place") for number in range(self.pairs)]
        case = f"10 flips in {LARGE} in place"
        self.rows.add(case, "", "found", "ms", *(1e3 * value for value in bench_rows.median_interval(values)))
        self.rows.add(case, "", "at most", "ms", 50.0)

    def copy(self, sizes: list[str]) -> None:
        copied = self.scratch / "copy.h5"

        def fresh() -> None:
            copied.unlink(missing_ok=True)

        for size in sizes:
            state = self.state(size)

            def ours(number: int, state: pathlib.Path = state) -> float:
                fresh()
                return self.alter(state, number, 10, "--out", copied)

            def theirs(_: int, state: pathlib.Path = state) -> float:
                fresh()
                return seconds_of("cp", state, copied)

            self.pair(f"10 flips in a copy of {size}", "cp", ours, theirs, 1.1)
            fresh()

    def difference(self, sizes: list[str]) -> None:
        for size in sizes:
            state, same = self.state(size), self.scratch / "same.h5"
            seconds_of("cp", state, same)
            with tempfile.TemporaryDirectory(dir=self.scratch) as out:
                self.pair(f"difference of two states of {size}", "cmp",
                          lambda number, a=state, b=same, to=out: seconds_of(  # type: ignore[misc]
                              DDL_ALTER, "difference", a, b, "--out", f"{to}/{number}"),
                          lambda _, a=state, b=same: seconds_of("cmp", a, b), 1.25)  # type: ignore[misc]
            same.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    bench_rows.add_options(parser)
    parser.add_argument("--pairs", type=int, default=bench_rows.rounds(15))
    bench_rows.add_choice(parser, ("flips", "copy", "difference"))
    asked = parser.parse_args()
    sizes = [SMALL] if os.environ.get("CROSSTALK_BENCH_QUICK") else [SMALL, LARGE]
    with tempfile.TemporaryDirectory(dir=asked.scratch, prefix="alter-bench.") as scratch:
        bench = Bench(bench_rows.Rows(asked.out, "alter", asked.machine, asked.load), pathlib.Path(scratch), asked.pairs)
        for part in asked.only:
            {"flips": bench.flips, "copy": bench.copy, "difference": bench.difference}[part](sizes)


if __name__ == "__main__":
    main()
