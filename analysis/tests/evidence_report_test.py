#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A report names a neighbour that is known to take the CPU, by the time that it is known to take.

    evidence_report_test.py INTERFERENCE

A training of one rank is 5 % slower beside the noise `mem`, all of it since another process has its CPU; in every step a
soft interrupt takes 0.2 ms, with noise and without."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import seal_study
from seal_runs import MS, ORIGIN, numpy

SLOW = 0.05
STEP_MS = 20.0
COLUMNS = "begin_ns,end_ns,source,cause,by,by_process,thread,cpu,count,ns"


def interruptions(rows, slots, start, slot_ms):
    """Rows of os.csv: what kept the main thread, number 77, from running."""
    def row(begin, ms, cause, by):
        at = ORIGIN + round(begin * MS)
        return f"{at},{at + round(ms * MS)},bpf,{cause},{by},,77,0,1,{round(ms * MS)}"

    for _, _, begin, end, *_ in rows:
        yield row(end - 0.2, 0.2, "softirq", "TIMER")
        for number, (_, _, on) in enumerate(slots):
            if on != "mem":
                continue
            first = max(begin, start + number * slot_ms)
            beside = min(end, start + (number + 1) * slot_ms) - first
            if beside > 0:
                yield row(first, beside * SLOW / (1 + SLOW), "neighbour", "taker")
    for number, (_, _, on) in enumerate(slots):  # pressure half of the time under `mem`, throttling a tenth of it
        for begin, share in ((0.0, 0.5), (0.5, 0.5)):
            at = ORIGIN + round((start + (number + begin) * slot_ms) * MS)
            until = at + round(0.5 * slot_ms * MS)
            if on == "mem":
                yield f"{at},{until},psi,pressure,cpu some,,,,0,{round(share * (until - at))}"
                yield f"{at},{until},cpu_stat,throttled,,,,,1,{round(0.1 * (until - at))}"
            # Under `mem` one instruction a cycle and 5 GB/s, elsewhere two and 1 GB/s; of two threads and two caches.
            for half in (0, 1):
                yield f"{at},{until},perf,cycles,,,{77 + half},,1000,0"
                yield f"{at},{until},perf,instructions,,,{77 + half},,{1000 if on == 'mem' else 2000},0"
                yield f"{at},{until},resctrl,bandwidth,mon_L3_0{half},,,,{(until - at) * (5 if on == 'mem' else 1) // 2},0"
                yield f"{at},{until},resctrl,llc_occupancy,mon_L3_0{half},,,,4096,0"
                yield f"{at},{until},cpufreq,frequency,,,,{half},{2_000_000 + 500_000 * half},0"


def write(run, random):
    what = seal_study.CALM | {"slow": SLOW}
    clock = seal_study.draw_clock(random, what["blocks"], what["slot"])
    rows = seal_study.train(random, what, clock)
    seal_study.write_run(run, clock, rows)
    (run / "train" / "run.json").write_text(json.dumps({"result": {"each_rank": [{"host": "node", "pid": 77}]}}))
    (run / "pruned.json").write_text(json.dumps({"can_analyse": True}))  # its steps are in a table, without an archive
    (run / "os" / "node").mkdir(parents=True)
    (run / "os" / "node" / "os.csv").write_text(
        "\n".join([COLUMNS, *interruptions(rows, clock.slots, clock.start, clock.slot_ms)]) + "\n")
    (run / "os" / "node" / "os.json").write_text(json.dumps({"sources": {"cpu_stat": True}}))


def check_parts(program, run, out):
    """A run with an added part has the same cause, and the effects on causes of both parts together."""
    write(run / "part-2", numpy.random.default_rng(4))
    done = subprocess.run([program, "analyse", run, "--draws", "0", "--out", out], capture_output=True, text=True)
    assert (out / "evidence.csv").exists(), done.stdout + done.stderr
    with open(out / "evidence.csv") as table:
        (taken,) = [row for row in csv.DictReader(table) if (row["factor"], row["cause"]) == ("mem", "neighbour")]
    assert float(taken["low_ms"]) <= SLOW * STEP_MS <= float(taken["high_ms"]), taken
    mem = json.loads((out / "verdict.json").read_text())["factors"]["mem"]
    assert mem["cause"].startswith("Main threads wait for a CPU on which another job runs"), mem
    assert mem["cause"].endswith("(neighbour (run) and 1 more)"), mem
    assert mem["setting"].startswith("Bind the training"), mem
    assert "Time kept from running" in (out / "index.html").read_text()


def main(program):
    with tempfile.TemporaryDirectory() as scratch:
        run = pathlib.Path(scratch) / "run"
        write(run, numpy.random.default_rng(3))
        done = subprocess.run([program, "exposure", "--train", run / "train/steps.csv",
                               "--noise", run / "noise/node.0/trace/traces.otf2", "--out", run / "report"],
                              capture_output=True, text=True)
        assert (run / "report" / "evidence.csv").exists(), done.stdout + done.stderr
        with open(run / "report" / "evidence.csv") as table:
            evidence = {(r["factor"], r["cause"]): r for r in csv.DictReader(table)}
        with open(run / "report" / "effects.csv") as table:
            effects = {r["factor"]: r for r in csv.DictReader(table) if r["phase"] == "step" and r["rank"] == "all"}
        with open(run / "report" / "steps_evidence.csv") as table:
            steps = list(csv.DictReader(table))
        with open(run / "report" / "pressure.csv") as table:
            pressure = {r["treatment"]: r for r in csv.DictReader(table)}
        with open(run / "report" / "counters.csv") as table:
            counters = {r["treatment"]: r for r in csv.DictReader(table)}
        with open(run / "report" / "evidence_parts.csv") as table:
            parts_drawn = list(csv.DictReader(table))
        page = (run / "report" / "index.html").read_text()
        verdict = json.loads((run / "report" / "verdict.json").read_text())
        check_parts(program, run, pathlib.Path(scratch) / "both")

    taken = evidence["mem", "neighbour"]
    truth_ms = SLOW * STEP_MS
    assert float(taken["low_ms"]) <= truth_ms <= float(taken["high_ms"]), taken
    assert float(taken["high_ms"]) - float(taken["low_ms"]) < 0.2 * truth_ms, taken
    assert abs(float(evidence["mem", "softirq"]["effect_ms"])) < 0.02, evidence["mem", "softirq"]
    assert abs(float(evidence["placebo", "neighbour"]["effect_ms"])) < 0.05, evidence["placebo", "neighbour"]
    for factor in ("mem", "net", "placebo"):
        parts = sum(float(row["effect_percent"]) for (of, _), row in evidence.items() if of == factor)
        assert abs(parts - float(effects[factor]["effect_percent"])) < 1e-9, (factor, parts, effects[factor])
    assert abs(float(evidence["mem", "unexplained"]["effect_ms"])) < 0.3, evidence["mem", "unexplained"]

    for treatment, row in pressure.items():
        at, throttled = (50.0, 10.0) if treatment == "mem" else (0.0, 0.0)
        assert abs(float(row["cpu_pressure_percent"]) - at) < 0.1, pressure
        assert abs(float(row["throttled_percent"]) - throttled) < 0.1, pressure
    for treatment, row in counters.items():
        of_mem = treatment == "mem"
        assert abs(float(row["instructions_per_cycle"]) - (1 if of_mem else 2)) < 1e-3, counters
        assert abs(float(row["bandwidth_bytes_per_s"]) / 1e9 - (5 if of_mem else 1)) < 0.01, counters
        assert (float(row["llc_occupancy_bytes"]), float(row["clock_khz"])) == (8192, 2_250_000), counters
        assert row["llc_misses_per_s"] == row["migrations_per_s"] == "", counters
    bars = [row for row in parts_drawn if row["name"] == "mem"]  # each part begins where the previous one ends
    assert [row["cause"] for row in bars][-2:] == ["unexplained", "step"], bars
    for before, after in zip(bars[:-2], bars[1:-1]):
        assert before["end_percent"] == after["begin_percent"], bars
    assert bars[-2]["end_percent"] == bars[-1]["end_percent"], bars
    for heading in ("Time kept from running", "Throttling and pressure", "Counters of the processor"):
        assert heading in page, heading

    assert {row["by"] for row in steps} == {"taker", "TIMER"}
    assert abs(sum(float(r["ms"]) for r in steps if r["cause"] == "softirq") / (0.2 * len({r["step"] for r in steps})) - 1) < 0.02
    assert verdict["factors"]["mem"]["cause"].startswith("Main threads wait for a CPU on which another job runs"), verdict
    assert verdict["factors"]["mem"]["setting"].startswith("Bind the training"), verdict
    assert "another job runs" not in verdict["factors"]["net"]["cause"], verdict
    print("a neighbour that takes 1 ms of each step is named, with 1 ms")


if __name__ == "__main__":
    main(sys.argv[1])
