#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of measurements.md and docs/performance.md, from the CSVs of a day: the newest measurement of each case.

docs/performance.md shows the cases that summary.csv names.

tables.py            prints all tables as Markdown
tables.py --history  the same with every measurement, not only the newest of each case
tables.py --file CSV the same of that file alone
tables.py --write    puts the tables between the marks of both pages
tables.py --check    exit code 1 if one of the pages has other tables
"""
import csv
import difflib
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ALL = FOLDER / "measurements.md"
SUMMARY = FOLDER.parents[1] / "docs" / "performance.md"
CHOSEN = FOLDER / "summary.csv"
# Name of the table of all benchmarks that have no table of their own on the page.
OTHERS = "others"
MARKS = re.compile(r"(<!-- (?P<kind>table|area): (?P<name>[^>]+?) -->\n).*?(<!-- end of table -->\n)", re.DOTALL)

# Quantities that are aims share one column; each has its sign.
AIMS = {"at most": "≤ ", "at least": "≥ ", "within": ""}


def grouped(digits):
    """Groups digits, 1004 as 1,004; the fraction is not changed."""
    return re.sub(r"^-?\d{4,}", lambda whole: f"{int(whole[0]):,}", digits)


def cell(row):
    """A table cell such as 47.7 ns (42.8 to 80.6)."""
    unit = f" {row['unit']}" if row["unit"] else ""
    bounds = f"{row['low']} to {row['high']}" if row["low"] else ""
    if not row["value"]:
        return bounds + unit
    return grouped(row["value"]) + unit + (f" ({bounds})" if bounds else "")


def column(row):
    return "aim" if row["quantity"] in AIMS else row["quantity"]


IDLE = ("quiet", "nothing beside")  # loads that mean an idle machine


class Measurement:
    """The rows of one case in one run: a line of a table."""

    def __init__(self):
        self.cells = {}
        self.numbers = {}  # by quantity: unit and value
        self.taken = ""
        self.where = ""
        self.peer = ""
        self.age = ()

    def add(self, row, order):
        text = AIMS.get(row["quantity"], "") + cell(row)
        if row["quantity"] == "beside":
            text += f", {row['beside']}"
        self.cells[column(row)] = text
        if re.fullmatch(r"-?[\d.]+", row["value"] or ""):
            self.numbers[row["quantity"]] = (row["unit"], float(row["value"]))
        if row["beside"]:
            self.cells.setdefault("beside", row["beside"])
            self.peer = row["beside"]
        self.taken = ", ".join(filter(None, [row["date"], row["machine"], row["load"], row.get("versions")]))
        self.where = f"{row['date']}, {row['machine']}" + ("" if row["load"] in IDLE else ", busy")
        self.age = (row["date"], int(row["run"]), order)

    def judge(self):
        """Sets a missing `holds`: yes if the first of ratio, ours and found in the unit of the aim meets the aim."""
        for aim, met in [("at most", float.__le__), ("at least", float.__ge__)]:
            if aim not in self.numbers or "holds" in self.cells:
                continue
            unit, bound = self.numbers[aim]
            for quantity in ["ratio", "ours", "found"]:
                if self.numbers.get(quantity, ("", 0.0))[0] == unit and quantity in self.numbers:
                    self.cells["holds"] = "yes" if met(self.numbers[quantity][1], bound) else "no"
                    break


def read(files):
    """The measurements by benchmark and case, oldest first."""
    benchmarks = {}
    for order, path in enumerate(files):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                cases = benchmarks.setdefault(row["benchmark"], {})
                runs = cases.setdefault(row["case"], {})
                runs.setdefault((order, row["run"]), Measurement()).add(row, order)
    for cases in benchmarks.values():
        for runs in cases.values():
            for one in runs.values():
                one.judge()
    return {
        benchmark: {case: sorted(runs.values(), key=lambda one: one.age) for case, runs in cases.items()}
        for benchmark, cases in benchmarks.items()
    }


def table(cases, history=False):
    lines = [(case, one) for case, all_of_it in cases.items() for one in (all_of_it if history else all_of_it[-1:])]
    known = ["ours", "found", "most resident", "beside", "ratio", "aim", "holds", "peak memory", "pairs"]
    known += sorted({name for _, one in lines for name in one.cells} - set(known))
    columns = [name for name in known if any(name in one.cells for _, one in lines)]
    # A date that is the same for the whole table is printed above it.
    taken = {one.taken for _, one in lines}
    text = f"Taken {taken.pop()}.\n\n" if len(taken) == 1 else ""
    titles = ["case", *columns, *(["taken"] if not text else [])]
    text += f"| {' | '.join(titles)} |\n{'|---' * len(titles)}|\n"
    for case, one in lines:
        cells = [case, *(one.cells.get(name, "") for name in columns), *([one.taken] if "taken" in titles else [])]
        text += f"| {' | '.join(cells)} |\n"
    return text


OF_A_VICTIM = re.compile(r"(\w+): (`.*`)")  # a case of the benchmark harm: victim and noise


def harm(cases):
    """A table of the newest measurements with a row per noise and a column per victim; below it the other cases."""
    rows, victims, taken = {}, [], {}
    for case, all_of_it in cases.items():
        if found := OF_A_VICTIM.fullmatch(case):
            victim, noise = found.groups()
            rows.setdefault(noise, {})[victim] = all_of_it[-1].cells["found"].replace(" times as long", "")
            taken[victim] = all_of_it[-1].taken
            if victim not in victims:
                victims.append(victim)
    text = "How many times as long the victim takes for the same work as in quiet.\n\n"
    text += "".join(f"- {victim}: taken {taken[victim]}\n" for victim in victims)
    text += f"\n| noise | {' | '.join(victims)} |\n{'|---' * (len(victims) + 1)}|\n"
    for noise, of in rows.items():
        text += f"| {noise} | {' | '.join(of.get(victim, '') for victim in victims)} |\n"
    return text + "\n" + table({case: runs for case, runs in cases.items() if not OF_A_VICTIM.fullmatch(case)})


def all_tables(benchmarks, history=False):
    def one(name, cases):
        return harm(cases) if name == "harm" and not history else table(cases, history)

    return "\n".join(f"### {name}\n\n{one(name, cases)}" for name, cases in benchmarks.items())


def area(name, benchmarks):
    """A table with a row for each case that summary.csv lists for an area."""
    text = "| what | median | peer | ratio (95 % interval) | aim | measured |\n|---|---|---|---|---|---|\n"
    with CHOSEN.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["area"] != name:
                continue
            runs = benchmarks.get(row["benchmark"], {}).get(row["case"])
            if not runs:
                sys.exit(f"tables.py: {CHOSEN.name} names a case that was not measured: {row['benchmark']}: {row['case']}")
            cells = runs[-1].cells
            ratio = cells.get("ratio", "")
            value, beside = cells.get("ours") or cells.get("found", ""), cells.get("beside", "")
            if ratio:  # with a ratio, the values' own intervals are redundant
                value = re.sub(r" \([\d.]+ to [\d.]+\)", "", value)
                beside = runs[-1].peer
            aim = cells.get("aim", "") + (", missed" if cells.get("holds") == "no" else "")
            text += f"| {row['what']} | {value} | {beside} | {ratio} | {aim} | {runs[-1].where} |\n"
    return text


def filled(page, benchmarks):
    places = {mark["name"] for mark in MARKS.finditer(page)}
    without_place = {name: cases for name, cases in benchmarks.items() if name not in places}

    def fill(mark):
        if mark["kind"] == "area":
            text = area(mark["name"], benchmarks)
        elif mark["name"] == OTHERS:
            text = all_tables(dict(sorted(without_place.items())))
        elif mark["name"] in benchmarks:
            text = table(benchmarks[mark["name"]])
        else:
            text = "Not measured yet.\n"
        return f"{mark[1]}\n{text}\n{mark[4]}"

    return MARKS.sub(fill, page)


def main(words):
    if words in (["--help"], ["-h"]):
        print(__doc__)
        return
    of_file = len(words) == 2 and words[0] == "--file"
    if not of_file and words not in ([], ["--history"], ["--write"], ["--check"]):
        print("tables.py: no such option (tables.py --help shows all)", file=sys.stderr)
        sys.exit(2)
    days = sorted(FOLDER.glob("[0-9]*.csv"))
    benchmarks = read([pathlib.Path(words[1])] if of_file else days)
    if of_file or words in ([], ["--history"]):
        print(all_tables(benchmarks, history=words == ["--history"]))
        return
    differ = False
    for path in (ALL, SUMMARY):
        page = path.read_text(encoding="utf-8")
        fresh = filled(page, benchmarks)
        if words == ["--write"]:
            path.write_text(fresh, encoding="utf-8")
        elif fresh != page:
            differ = True
            print("".join(difflib.unified_diff(page.splitlines(True), fresh.splitlines(True), str(path), "CSVs")))
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
