#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does job.run with a memory loop of our own slow a training as much as memory.stream?

    job_effect.py [--duration 15min] [--run DIR] [--csv FILE]

The loop is C, compiled here: a = s*a + s over an array of 256 MiB on each CPU that it may use, as
memory.stream[shape=update,bytes=256MiB] has it. Both are factors of one designed run with ResNet-18 (width 32), so
that drift of the machine affects both equally. In each block, the mean steps under each noise are compared, in percent of
the mean quiet step; the difference has a t interval over blocks. CROSSTALK_BIN names the folder of the programs; --run
names an existing run."""

import argparse
import collections
import csv
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
BYTES = 256 << 20
TRAFFIC_A_PASS = 2 * BYTES  # each item is read and written
LEAST_BLOCKS = 10
LOOP = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    const long items = %d / sizeof(double);
    const int harvest = open(getenv("CROSSTALK_HARVEST"), O_WRONLY | O_APPEND);
    cpu_set_t cpus;
    sched_getaffinity(0, sizeof cpus, &cpus);
    for (int other = CPU_COUNT(&cpus); other > 1; --other)
        if (fork() == 0) break;
    double* a = malloc(items * sizeof(double));
    for (long i = 0; i < items; ++i) a[i] = 1;
    for (double s = 0.5;; s = 1 - s) {
        for (long i = 0; i < items; ++i) a[i] = s * a[i] + s;
        if (write(harvest, "\\n", 1) != 1) return 1;
    }
}
"""


def compiled(folder):
    (folder / "loop.c").write_text(LOOP % BYTES, encoding="utf-8")
    subprocess.run(["cc", "-O3", "-march=native", "-o", folder / "loop", folder / "loop.c"], check=True)
    return folder / "loop"


def measure(run, loop, duration):
    schedule = (f"rotation(stream=memory.stream[shape=update,bytes={BYTES >> 20}MiB], job=job.run[file={loop}], placebo, "
                "control.delay, control.sham; slot=auto)")
    subprocess.run([BIN / "crosstalk", "run", "--duration", duration, "--schedule", schedule, "--out", run, "--", "mpirun",
                    "-n", "2", "ddl-train", "--model", "resnet18[width=32]", "--data", "digits"], check=True)


def rows(file):
    with open(file, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def means_by_block(run):
    """Mean step in ms, {block: {"quiet": .., "stream": .., "job": ..}}, over steps wholly under one of these."""
    steps = {(row["rank"], row["step"]): (int(row["end_ns"]) - int(row["begin_ns"])) / 1e6
             for row in rows(run / "train/steps.csv")}
    lengths = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows(run / "report/exposure.csv"):
        if row["used"] != "1":
            continue
        factors = {name: float(share) for name, share in list(row.items())[5:]}
        on = [name for name, share in factors.items() if share > 0.0]
        if not on or (len(on) == 1 and factors[on[0]] > 0.99):
            lengths[row["block"]][on[0] if on else "quiet"].append(steps[row["rank"], row["step"]])
    wanted = ("quiet", "stream", "job")
    return {block: {name: statistics.fmean(found[name]) for name in wanted}
            for block, found in lengths.items() if all(found[name] for name in wanted)}


def t_quantile(degrees):
    """97.5 % quantile of Student's t, by Cornish and Fisher's first two terms: error below 1 % from nine degrees on."""
    normal = statistics.NormalDist().inv_cdf(0.975)
    return (normal + (normal**3 + normal) / (4 * degrees)
            + (5 * normal**5 + 16 * normal**3 + 3 * normal) / (96 * degrees**2))


def interval(values):
    width = t_quantile(len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    return statistics.fmean(values), statistics.fmean(values) - width, statistics.fmean(values) + width


def comparison(blocks):
    """Rows (name, effect, low, high) in percent of the mean quiet step, for both noises and their difference."""
    quiet = statistics.fmean(block["quiet"] for block in blocks.values())
    for name, plus, minus in (("memory.stream", "stream", "quiet"), ("job.run", "job", "quiet"),
                              ("job.run - memory.stream", "job", "stream")):
        yield (name, *interval([100 * (block[plus] - block[minus]) / quiet for block in blocks.values()]))


def traffic(run):
    """Bytes per second of each noise while it was on."""
    done, time_s = collections.Counter(), collections.Counter()
    for table in run.glob("noise/*/noise.csv"):
        for row in rows(table):
            if row["factor"] in ("stream", "job"):
                done[row["factor"]] += int(row["bytes"]) + int(row["operations"]) * TRAFFIC_A_PASS * (row["factor"] == "job")
                time_s[row["factor"]] += (int(row["end_ns"]) - int(row["begin_ns"])) / 1e9
    cpus = len({row["cpu"] for table in run.glob("noise/*/noise.csv") for row in rows(table)})
    return {name: cpus * done[name] / time_s[name] for name in done}


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--duration", default="15min")
    options.add_argument("--run", type=pathlib.Path, help="an existing run of this script, instead of a new one")
    options.add_argument("--csv", default="job_effect.csv")
    wanted = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run = wanted.run or pathlib.Path(scratch) / "run"
        if not (run / "report/exposure.csv").exists():
            measure(run, compiled(pathlib.Path(scratch)), wanted.duration)
        blocks = means_by_block(run)
        if len(blocks) < LEAST_BLOCKS:
            sys.exit(f"job_effect.py: only {len(blocks)} blocks hold both: give it a longer --duration")
        with open(wanted.csv, "w", newline="", encoding="utf-8") as file:
            table = csv.writer(file)
            table.writerow(["noise", "blocks", "effect_percent", "low_percent", "high_percent"])
            for name, *percents in comparison(blocks):
                table.writerow([name, len(blocks), *(f"{value:.3f}" for value in percents)])
                print(f"{name}: {percents[0]:+.2f} % ({percents[1]:+.2f} to {percents[2]:+.2f}), {len(blocks)} blocks")
        print("; ".join(f"{name} moved {rate / 1e9:.2f} GB/s" for name, rate in sorted(traffic(run).items())))


if __name__ == "__main__":
    main()
