#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scripts of results/bench write correct rows about what noisegen wrote: a stand-in for noisegen writes tables
whose answers are known by hand."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCH = ROOT / "results/bench"
sys.dont_write_bytecode = True
sys.path.insert(0, str(BENCH))
import bench_rows  # noqa: E402

STAND_IN = """#!{python}
import pathlib, sys
words = sys.argv[1:]
out = pathlib.Path(words[words.index("--out") + 1])
if words[0] == "probe":
    (out / "probe").mkdir(parents=True)
    rows = ["noise,stressor,level,victim,blocks,slowdown,low,high,quiet_per_s,unit,own_bytes_per_s,own_operations_per_s"]
    for victim in words[words.index("--victim") + 1].split(",")[1:]:
        rows += [f"placebo,placebo,,{{victim}},15,1,0.9,1.1,100,x/s,0,0",
                 f"memory.stream[shape=partial],memory.stream,shape=partial,{{victim}},15,3,2.7,3.3,100,x/s,1,0",
                 f"stress-ng --cache 1,peer,,{{victim}},15,2,1.8,2.2,100,x/s,0,0"]
    (out / "probe/harm.csv").write_text("\\n".join(rows) + "\\n")
else:  # a second at 1000 bytes/s of which windows hold 99, 101, 98.5, 101.5, .. and 1 % is missing in all
    part = out / "noise/host.0"
    part.mkdir(parents=True)
    windows = [0, 99, 101, 98.5, 101.5, 99, 101, 98.5, 101.5, 190]
    (part / "noise.csv").write_text("begin_ns,end_ns,requested,bytes\\n0,1000000000,1000,990\\n")
    (part / "samples.csv").write_text("begin_ns,end_ns,bytes\\n" + "".join(
        f"{{i}}00000000,{{i + 1}}00000000,{{done}}\\n" for i, done in enumerate(windows)))
"""


def rows_after(script: str, *words: str) -> dict[tuple[str, str], dict[str, str]]:
    """Rows by case and quantity, from a run of the script without any peer program."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        noisegen = folder / "noisegen"
        noisegen.write_text(STAND_IN.format(python=sys.executable))
        noisegen.chmod(0o755)
        done = subprocess.run(
            [sys.executable, str(BENCH / script), "--out", str(folder / "rows.csv"), "--machine", "vm", "--load", "none",
             "--scratch", name, *words],
            env={**os.environ, "CROSSTALK_BIN": name, "PATH": "/none", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, check=False)
        if done.returncode == 77:
            print("SKIPPED:", done.stderr.strip())
            sys.exit(77)
        assert done.returncode == 0, done.stderr
        with open(folder / "rows.csv", newline="", encoding="utf-8") as table:
            rows = list(csv.DictReader(table))
    assert all(list(row) == bench_rows.COLUMNS and row["run"] == "1" for row in rows)
    return {(row["case"], row["quantity"]): row for row in rows}


# Of 15 values the median lies between the 4th and the 12th with 96.5 % (binomial table: P(X <= 3) = 0.0176).
assert bench_rows.median_interval([float(i) for i in range(1, 16)]) == (8.0, 4.0, 12.0)
assert bench_rows.median_interval([3.0, 1.0, 2.0]) == (2.0, 1.0, 3.0)  # too few values for any other interval
assert bench_rows.quantile([4.0, 1.0, 3.0, 2.0, 5.0], 0.5) == 3.0
assert [bench_rows.digits(value) for value in (1.0234, 12345.6, -3.9, 0.0, None)] == ["1.023", "12346", "-3.900", "0", ""]

harm = rows_after("harm.py", "--only", "memory", "--blocks", "15")
assert harm["bandwidth: `placebo`", "found"]["value"] == "1.000"
assert harm["llc: `memory.stream[shape=partial]`", "found"]["high"] == "3.300"
case = "most harm to latency: `memory.stream[shape=partial]`"
assert harm[case, "ours"]["value"] == "3.000" and harm[case, "beside"]["value"] == "2.000"
assert harm[case, "beside"]["beside"] == "stress-ng --cache 1"
assert harm[case, "ratio"]["value"] == "1.500" and harm[case, "holds"]["value"] == "yes"
# Logarithms of 3.3/2.7 and 2.2/1.8 are both 0.2007: half of each, squared, added, is the ratio's half width 0.1419.
assert harm[case, "ratio"]["low"] == "1.302" and harm[case, "ratio"]["high"] == "1.729"

with tempfile.TemporaryDirectory() as name:
    measured = pathlib.Path(name) / "2026-01-02-vm.csv"
    measured.write_text(",".join(bench_rows.COLUMNS) + "\n" + "".join(
        f'2026-01-0{run},vm,none,harm,{run},{case},{beside},{quantity},{unit},{value},{low},{high},v{run}\n'
        for run, case, beside, quantity, unit, value, low, high in [
            (1, "latency: `placebo`", "", "found", "times as long", 9, 8, 10),
            (1, "fsync: `io.write`", "", "found", "times as long", 27, 26, 28),
            (2, "latency: `placebo`", "", "found", "times as long", 1, 0.9, 1.1),
            (2, "most harm to fsync: `io.write`", "fio", "ratio", "", 2, 1.5, 2.5)]))
    page = subprocess.run([sys.executable, str(BENCH / "tables.py"), "--file", str(measured)], capture_output=True,
                          text=True, check=True).stdout
for line in ["- latency: taken 2026-01-02, vm, none, v2", "- fsync: taken 2026-01-01, vm, none, v1",
             "| noise | latency | fsync |", "| `placebo` | 1 (0.9 to 1.1) |  |", "| `io.write` |  | 27 (26 to 28) |"]:
    assert line in page.splitlines(), page
assert "most harm to fsync: `io.write`" in page and "2 (1.5 to 2.5)" in page

rates = rows_after("rates.py", "--only", "given", "--pairs", "2")
mean = "`network.stream[rate=1GiB/s]`, 10 s: mean error"
assert rates[mean, "found"]["value"] == "-1.000" and rates[mean, "holds"]["value"] == "no"
windows = "`network.stream[rate=1GiB/s]`: error in windows of 100 ms, 5th to 95th percentile"
assert (rates[windows, "found"]["low"], rates[windows, "found"]["high"]) == ("-1.500", "1.500")  # first and last left out
assert rates[windows, "holds"]["value"] == "yes" and rates[windows, "within"]["high"] == "2.000"
print("rows are what the tables said")
