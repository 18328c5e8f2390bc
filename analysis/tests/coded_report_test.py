#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A report on a coded training says what became of its soft errors, and how much longer products wait beside a noise.

    coded_report_test.py INTERFERENCE

In each step rank 0 makes four products, which wait 0.5 ms for symbols, beside the noise `mem` 0.7 ms, and take 0.1 ms to
decode. In a step that crosses the border of a slot the wait grows with the share of the step beside `mem`."""
import csv
import json
import pathlib
import shutil
import sys
import tempfile

import seal_study
from seal_runs import MS, ORIGIN, analyse, numpy

WAIT_MS, MORE_MS, DECODE_MS, STEP_MS = 0.5, 0.2, 0.1, 20.0
CONTROL_MS = {"control.delay": 1.8, "control.sham": 0.8}  # what seal_study adds to a step
PRODUCTS = ("step,layer,pass,begin_ns,end_ns,product_ns,wait_ns,decode_ns,symbols,used,late,last_rank,saved_ns,"
            "residual")
ERRORS = """step,layer,site,rank,injected_ns,size,detected_step,detected_ns,outcome
100,fc1,forward,1,1000000,0.5,100,2000000,regenerated
101,fc1,forward,2,1000000,0.5,101,4000000,regenerated
102,fc2,forward,2,1000000,0.5,104,41000000,regenerated
200,fc1,update,0,5000000,0.5,201,15000000,rolled_back
200,fc2,update,3,5000000,0.5,201,15000000,rolled_back
300,fc1,backward,1,9000000,0.00001,,,below_threshold
400,fc2,backward,1,9000000,0.5,,,missed
500,,replica,2,,,500,7000000,outvoted
600,fc1,forward,0,,,600,7000000,false_alarm
"""


def products(random, rows, clock):
    for rank, step, begin, end, *_ in rows:
        if rank != 0:
            continue
        beside = 0.0
        for number, (_, _, on) in enumerate(clock.slots):
            if on == "mem":
                first = clock.start + number * clock.slot_ms
                beside += max(0.0, min(end, first + clock.slot_ms) - max(begin, first))
        share = beside / (end - begin)
        for number in range(4):
            at = ORIGIN + round((begin + number) * MS)
            wait = WAIT_MS + MORE_MS * share + 0.05 * random.standard_normal()
            late = 1 if number == 0 and share > 0.5 else 0
            saved = share if number == 0 else 0.0
            yield (f"{step},fc{number % 2},{'forward' if number < 2 else 'backward'},{at},{at + MS},{MS // 4},"
                   f"{round(wait * MS)},{round(DECODE_MS * MS)},5,{5 - late},{late},{2 if step % 4 == 0 else 1},"
                   f"{round(saved * MS)},0.0000001")


def write(run):
    random = numpy.random.default_rng(5)
    clock = seal_study.draw_clock(random, seal_study.CALM["blocks"], seal_study.CALM["slot"])
    rows = seal_study.train(random, seal_study.CALM, clock)
    seal_study.write_run(run, clock, rows)
    (run / "train" / "products.csv").write_text("\n".join([PRODUCTS, *products(random, rows, clock)]) + "\n")
    (run / "train" / "errors.csv").write_text(ERRORS)
    (run / "pruned.json").write_text(json.dumps({"can_analyse": True}))  # its steps are in a table, without an archive
    (run / "train" / "run.json").write_text(json.dumps({"result": {"steps": len(rows), "steps_undone": 45,
                                                                   "code": {"rollbacks": 2}}}))
    return len(rows)


def table(file, *key):
    with open(file, newline="") as rows:
        return {tuple(row[name] for name in key): row for row in csv.DictReader(rows)}


def near(value, truth, tolerance):
    assert abs(float(value) - truth) <= tolerance, (value, truth, tolerance)


def check_products(report):
    products_of = table(report / "coded_products.csv", "treatment")
    for (treatment,), row in products_of.items():
        beside = treatment == "mem"
        wait = WAIT_MS + MORE_MS * beside
        step = STEP_MS + CONTROL_MS.get(treatment, 0.0)
        near(row["wait_ms"], wait, 0.02)
        near(row["product_ms"], 0.25, 1e-6)
        near(row["decode_ms"], DECODE_MS, 1e-6)
        near(row["wait_percent"], 100 * 4 * wait / step, 0.4)
        near(row["decode_percent"], 100 * 4 * DECODE_MS / step, 0.05)
        near(row["late_symbols"], beside, 0.03)
        near(row["saved_ms"], beside, 0.03)
        assert int(row["products"]) == 4 * int(row["steps"]), row
        if treatment == "quiet":
            assert row["more_wait_ms"] == row["low_ms"] == row["high_ms"] == "", row
        else:
            assert float(row["low_ms"]) <= MORE_MS * beside <= float(row["high_ms"]), row
            assert float(row["high_ms"]) - float(row["low_ms"]) < 0.03, row
    last = table(report / "coded_last_ranks.csv", "treatment", "last_rank")
    for (treatment,) in products_of:
        near(last[treatment, "2"]["percent_of_products"], 25, 2)
        near(last[treatment, "1"]["percent_of_products"], 75, 2)


def check_errors(report):
    errors = table(report / "coded_errors.csv", "site", "outcome")
    numbers = {key: [row[name] for name in ("errors", "median_steps", "most_steps", "median_ms", "most_ms")]
               for key, row in errors.items()}
    assert numbers == {
        ("forward", "regenerated"): ["3", "0", "2", "3", "40"],
        ("update", "rolled_back"): ["2", "1", "1", "10", "10"],
        ("backward", "below_threshold"): ["1", "", "", "", ""],
        ("backward", "missed"): ["1", "", "", "", ""],
        ("replica", "outvoted"): ["1", "", "", "", ""],
        ("forward", "false_alarm"): ["1", "", "", "", ""],
    }, numbers


def check_texts(report, verdict, steps):
    coded = verdict["coded"]
    assert (coded["rollbacks"], coded["steps_undone"]) == (2, 45), coded
    assert sum(errors["errors"] for errors in coded["errors"]) == 9, coded
    assert [row["treatment"] for row in coded["products"]][0] == "quiet", coded
    found = "time until found: 10.00 ms in the median, 40.00 ms at most; steps: 1 and 2."
    for name in ("report.txt", "report.md", "index.html"):
        text = (report / name).read_text()
        for part in (found, f"2 rollbacks undid 45 of {steps} steps ({4500 / steps:.2f}", "mem: a coded product waits +0."):
            assert part in text, (name, part)
    page = (report / "index.html").read_text()
    for part in ("Coded products", "Soft errors", "wait beyond quiet", 'href="coded_errors.csv"'):
        assert part in page, part


def check_damaged(program, run, scratch, name, damage, note, kept):
    """The run with a damaged table has one note more, and all else is there."""
    copy = scratch / name
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns("report"))
    damage(copy / "train")
    verdict = analyse(program, [copy], copy / "report")
    assert sum(note in text for text in verdict["notes"]) == 1, (name, verdict)
    for file in ("coded_products.csv", "coded_errors.csv"):
        assert (copy / "report" / file).exists() == (file in kept), (name, file)
    effects = "effects.csv"
    assert (copy / "report" / effects).read_text() == (run / "report" / effects).read_text(), name
    assert ("coded" in verdict) == bool(kept), name


def change(file, change_text):
    file.write_text(change_text(file.read_text()))


def main(program):
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        run = scratch / "run"
        steps = write(run)
        verdict = analyse(program, [run], run / "report")
        assert isinstance(verdict, dict), verdict
        check_products(run / "report")
        check_errors(run / "report")
        check_texts(run / "report", verdict, steps)
        both = ["coded_products.csv", "coded_errors.csv"]
        for name, damage, note, kept in (
                ("cut_off", lambda train: change(train / "products.csv", lambda text: text[:-9]),
                 "products.csv is cut off: its last row is left out", both),
                ("word", lambda train: change(train / "products.csv", lambda text: text.replace(",250000,", ",x,", 1)),
                 "coded products are left out: ", both[1:]),
                ("steps", lambda train: change(train / "products.csv", lambda text: text[:len(text) // 2]),
                 "products.csv has no product of step ", both[1:]),
                ("errors", lambda train: change(train / "errors.csv", lambda text: text.replace("rank", "who")),
                 "soft errors of the coded training are left out: ", both[:1])):
            check_damaged(program, run, scratch, name, damage, note, kept)
        uncoded = scratch / "uncoded"
        shutil.copytree(run, uncoded, ignore=shutil.ignore_patterns("report", "products.csv", "errors.csv"))
        plain = analyse(program, [uncoded], uncoded / "report")
        assert "coded" not in plain and not list((uncoded / "report").glob("coded*")), plain
        assert "coded" not in (uncoded / "report" / "report.txt").read_text()
    print("a noise that makes a product wait 0.2 ms longer is reported with 0.2 ms")


if __name__ == "__main__":
    main(sys.argv[1])
