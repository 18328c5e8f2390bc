#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Benchmarks of a made-up build run through bench.py; their rows become tables of a made-up page."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
HEADER = "date,machine,load,benchmark,run,case,beside,quantity,unit,value,low,high,versions\n"
PAGE = """# Page

<!-- table: known-bench -->
<!-- end of table -->

<!-- table: others -->
<!-- end of table -->
"""
SUMMARY = "<!-- area: speed -->\n<!-- end of table -->\n"

wrong = []


def check(holds, what):
    if not holds:
        wrong.append(what)


def run(*words):
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as scratch:
    tree = pathlib.Path(scratch)
    (tree / "results").mkdir()
    (tree / "docs").mkdir()
    build = tree / "build"
    build.mkdir()
    shutil.copytree(ROOT / "results/bench", tree / "results/bench", ignore=shutil.ignore_patterns("*.csv"))
    page = tree / "results/bench/measurements.md"
    page.write_text(PAGE)
    summary = tree / "docs/performance.md"
    summary.write_text(SUMMARY)
    chosen = tree / "results/bench/summary.csv"
    chosen.write_text("area,what,benchmark,case\nspeed,how fast,new-bench,fast\nspeed,how slow,known-bench,a case\nsize,no row,third-bench,word\n")
    (tree / "results/bench/2026-01-01-pen-and-paper.csv").write_text(
        HEADER
        + "2026-01-01,vm,quiet,known-bench,1,a case,,found,ms,25,24,26,abc\n"
        + "2026-01-01,vm,quiet,known-bench,1,a case,,at most,ms,30,,,abc\n"
        + "2026-01-01,vm,quiet,new-bench,1,fast,its peer,ratio,,1.20,1.10,1.30,abc\n"
        + "2026-01-01,vm,quiet,new-bench,1,fast,its peer,at most,,1.10,,,abc\n"
        + "2026-01-01,vm,quiet,new-bench,1,fast,its peer,joules,J,3,,,abc\n")
    bench = tree / "results/bench/bench.py"
    tables = tree / "results/bench/tables.py"

    # A benchmark that writes a row, one that never ends, one that fails.
    row = "2026-01-02,$CROSSTALK_BENCH_MACHINE,$CROSSTALK_BENCH_LOAD,third-bench,1,$WORD,,found,s,7,,,"
    script = f"[ -e $CROSSTALK_BENCH_CSV ] || echo {HEADER.strip()} > $CROSSTALK_BENCH_CSV; echo {row} >> $CROSSTALK_BENCH_CSV"
    (build / "benchmarks.txt").write_text(f"WORD=word\nthird-bench\t30\tsh\t-c\t{script}\nfailing-bench\t30\tfalse\n")

    listed = run(bench, "--build", build, "--list")
    check(listed.stdout.split() == ["third-bench", "failing-bench"], f"--list shows all: {listed}")
    unknown = run(bench, "--build", build, "--only", "fourth-bench")
    check(unknown.returncode != 0 and "no benchmark 'fourth-bench'" in unknown.stderr, f"an unknown name is refused: {unknown}")

    quick = run(bench, "--build", build, "--quick", "--only", "third-bench", "--load", "quiet", "--machine", "vm")
    check(quick.returncode == 0 and "third-bench" in quick.stdout, f"a quick run prints its tables: {quick}")
    check((build / "bench-quick.csv").is_file(), "the rows of a quick run are in the build folder")
    check(page.read_text() == PAGE, "a quick run leaves the page alone")

    failing = run(bench, "--build", build, "--only", "failing-bench", "--load", "quiet", "--machine", "vm")
    check(failing.returncode != 0 and "failed: failing-bench" in failing.stderr, f"a failure is named: {failing}")

    whole = run(bench, "--build", build, "--only", "third-bench", "--load", "quiet", "--machine", "vm")
    check(whole.returncode == 0, f"a run writes the page: {whole}")
    text = page.read_text()
    for line in ["| a case | 25 ms (24 to 26) | ≤ 30 ms | yes |",
                 "### new-bench", "| fast | its peer | 1.20 (1.10 to 1.30) | ≤ 1.10 | no | 3 J |",
                 "### third-bench", "| word | 7 s |"]:
        check(line in text, f"the page has: {line}\n{text}")
    text = summary.read_text()
    for line in ["| how fast |  | its peer | 1.20 (1.10 to 1.30) | ≤ 1.10, missed | 2026-01-01, vm |",
                 "| how slow | 25 ms (24 to 26) |  |  | ≤ 30 ms | 2026-01-01, vm |"]:
        check(line in text, f"the summary has: {line}\n{text}")
    check("no row" not in text, f"a case is in the table of its area only: {text}")
    check(run(tables, "--check").returncode == 0, "both pages have the tables of the CSVs")
    summary.write_text(text.replace("1.20", "1.02"))
    check(run(tables, "--check").returncode == 1, "another number in the summary is found")
    summary.write_text(text)
    chosen.write_text("area,what,benchmark,case\nspeed,how fast,new-bench,faster\n")
    unknown = run(tables, "--check")
    check(unknown.returncode != 0 and "new-bench: faster" in unknown.stderr, f"a case without a measurement is named: {unknown}")

if wrong:
    print("NOT TRUE:", *wrong, sep="\n")
    sys.exit(1)
