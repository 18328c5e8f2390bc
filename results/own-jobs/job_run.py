#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How late job.run freezes its job, and what the job costs while it is frozen.

    job_run.py [--duration 120] [--csv FILE]

The job is a loop that never rests. Its lateness is measured twice: by noisegen (noise.json), and from outside by the
job's own clock: the last time that it wrote down within 50 ms of a slot's planned end. What it costs while frozen, is the time
on a CPU (/proc/PID/schedstat) of all its processes, and of noisegen's, in a rest of 20 s. CROSSTALK_BIN names the
folder of the programs."""

import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
JOB = """#!/usr/bin/python3
import os, time
harvest = os.open(os.environ["CROSSTALK_HARVEST"], os.O_WRONLY | os.O_APPEND)
next_ns = 0
while True:
    now_ns = time.monotonic_ns()
    if now_ns >= next_ns:
        os.write(harvest, b"%d\\n" % now_ns)
        next_ns = now_ns + 20_000
"""


def start(scratch, name, schedule, seconds):
    job = scratch / "job.py"
    job.write_text(JOB, encoding="utf-8")
    job.chmod(0o700)
    run = scratch / name
    words = [BIN / "noisegen", "--schedule", schedule.replace("JOB", f"job.run[file={job}]"), "--duration", f"{seconds}s",
             "--cpus", str(max(os.sched_getaffinity(0))), "--out", run]
    return run, subprocess.Popen(words, stdout=subprocess.DEVNULL)


def rows_of(run):
    with open(next(run.glob("noise/*/noise.csv")), newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def planned_ends(run, slot_ns):
    """Planned end of each slot of the job: slots follow each other, and the earliest one is taken to begin on time."""
    rows = rows_of(run)
    start_ns = min(int(row["begin_ns"]) - int(row["slot"]) * slot_ns for row in rows)
    return [start_ns + (int(row["slot"]) + 1) * slot_ns for row in rows if row["stressor"] == "job.run"]


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def lateness(scratch, seconds, table):
    run, noise = start(scratch, "late", "JOB 100ms; quiet 100ms", seconds)
    if noise.wait():
        sys.exit("job_run.py: noisegen failed")
    note = json.dumps(json.loads(next(run.glob("noise/*/noise.json")).read_text(encoding="utf-8")))
    by_noisegen = re.search(r"frozen by ([^;\"]*?) within ([0-9.]+) ms \(99th percentile of (\d+)\)", note)
    written = [int(line) for line in next(run.glob("log/*.harvest")).read_text(encoding="utf-8").split()]
    late, at = [], 0
    for end_ns in planned_ends(run, 100_000_000):
        while at < len(written) and written[at] < end_ns + 50_000_000:
            at += 1
        if at and end_ns - 50_000_000 < written[at - 1]:
            late.append(max(0, written[at - 1] - end_ns) / 1e6)
    for number, value in enumerate(late):
        table.writerow(["late_ms", number, f"{value:.4f}"])
    print(f"frozen by {by_noisegen[1]}: 99th percentile {by_noisegen[2]} ms of {by_noisegen[3]} by noisegen; "
          f"{percentile(late, 0.99):.3f} ms, at most {max(late):.3f} ms of {len(late)} by the job's own clock")


def time_on_cpu(process_ids):
    total = 0
    for process in process_ids:
        for task in pathlib.Path(f"/proc/{process}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total


def with_words(words):
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words in file.read_bytes().decode(errors="replace").replace("\0", " ") and int(file.parent.name) != os.getpid():
                found.append(int(file.parent.name))
        except OSError:
            pass
    return found


def cost(scratch, rest, table):
    run, noise = start(scratch, "cost", f"JOB 2s; quiet {rest + 4}s", rest + 6)
    deadline = time.monotonic() + 60
    while not list(run.glob("noise/*/noise.csv")) or not rows_of(run):
        time.sleep(0.1)
        if time.monotonic() > deadline:
            sys.exit("job_run.py: no slot was recorded")
    time.sleep(1)
    job = with_words(f"{scratch}/job.py")
    own = [process for process in job if process != noise.pid and b"job.run" not in
           pathlib.Path(f"/proc/{process}/cmdline").read_bytes()]
    others = [noise.pid, *(process for process in job if process not in own and process != noise.pid)]
    before, before_own, begin = time_on_cpu(others), time_on_cpu(own), time.monotonic_ns()
    time.sleep(rest)
    length = time.monotonic_ns() - begin
    for name, spent in (("job", time_on_cpu(own) - before_own), ("noisegen", time_on_cpu(others) - before)):
        table.writerow([f"{name}_core_percent", rest, f"{100 * spent / length:.5f}"])
        print(f"{name}: {100 * spent / length:.4f} % of a core in {rest} s while frozen")
    noise.terminate()
    noise.wait()


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--duration", type=int, default=120)
    options.add_argument("--csv", default="job_run.csv")
    wanted = options.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")
    with tempfile.TemporaryDirectory() as scratch, open(wanted.csv, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["quantity", "number", "value"])
        lateness(pathlib.Path(scratch), wanted.duration, table)
        cost(pathlib.Path(scratch), 20, table)


if __name__ == "__main__":
    main()
