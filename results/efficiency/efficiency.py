#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much machine time does a rotation save? Three noises beside one training, each known to +-0.5 % of the step: by one
run in which they take turns in random order, and by separate runs, quiet ones and noisy ones of each noise.

    efficiency.py --out DIR [--duration 300] [--runs 5] [--run-seconds 30] [--csv FILE] [-- TRAINING...]

Both are really run. Neither has to reach the target: the interval of each is measured, and the interval of a mean of n blocks,
or runs, falls with the square root of n. The machine time of a rotation includes its controls; the time to start is excluded
from both. Separate runs are made in random order, one of each kind per round.

The ratio's interval is that of a ratio of two variances (F distribution, by draws): each was measured from few blocks, or
runs. TRAINING is the job of crosstalk run, without --out and --duration; by default two ranks of ResNet-18 on the digits. (An
emulated training that calibrates its work at the start would hide noise that is already on.) CROSSTALK_BIN names the folder
of the programs. The training gets the first allowed core, the noise the last one."""

import argparse
import csv
import math
import os
import pathlib
import random
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
TRAINING = ["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "ddl-train", "--model", "resnet18[width=32]",
            "--data", "digits", "--progress", "yield"]
CONTROLS = "placebo, control.delay, control.sham"
TARGET_PERCENT = 0.5
WARM_UP_STEPS = 20
DRAWS = 100_000


def environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def must(*words: object) -> None:
    print("+", *words, file=sys.stderr)
    code = subprocess.run([str(word) for word in words], env=environment(), check=False).returncode
    if code not in (0, 3):  # 3: noise did not cover the whole run, which the report says
        sys.exit(f"efficiency.py: {words[0]} failed")


def t_quantile(freedom: float) -> float:
    """Two-sided 95 % quantile from the normal one (Abramowitz and Stegun 26.7.5): right to 0.3 % from 4 degrees on."""
    z = 1.959963985
    return (z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
            + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3))


def least(half_width: Callable[[int], float], first: int) -> float:
    """Number of blocks or runs, not rounded, at which the half width equals the target."""
    count = first
    while half_width(count) > TARGET_PERCENT:
        count += 1
    if count == first:
        return first
    above, below = half_width(count - 1), half_width(count)
    return count - 1 + (above - TARGET_PERCENT) / (above - below)


def rows_of(file: pathlib.Path) -> list[dict[str, str]]:
    with open(file, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def mean_step_ms(run: pathlib.Path) -> float:
    """Mean step of the job after warm-up, from the first rank's begin to the last rank's end."""
    begin: dict[int, int] = {}
    end: dict[int, int] = {}
    for row in rows_of(run / "train/steps.csv"):
        step = int(row["step"])
        begin[step] = min(begin.get(step, int(row["begin_ns"])), int(row["begin_ns"]))
        end[step] = max(end.get(step, 0), int(row["end_ns"]))
    return statistics.fmean(end[step] - begin[step] for step in sorted(end)[WARM_UP_STEPS:]) / 1e6


def by_rotation(out: pathlib.Path, noises: dict[str, str], training: list[str], duration: int, cpus: tuple[int, int]
                ) -> tuple[float, int, float]:
    """Half width of the widest interval, number of blocks, and seconds per block."""
    schedule = f"rotation({', '.join(noises.values())}, {CONTROLS}; slot=auto)"
    must("crosstalk", "run", "--out", out, "--duration", f"{duration}s", "--cpus", cpus[0], "--noise-cpus", cpus[1],
         "--schedule", schedule, "--", *training)
    widest = max(float(row["half_width_percent"]) for row in rows_of(out / "report/verdicts.csv"))
    blocks = int(rows_of(out / "report/effects.csv")[0]["blocks"])
    slots = [row for path in sorted(out.glob("noise/*/noise.csv")) for row in rows_of(path)]
    begins: dict[int, int] = {}
    for row in slots:
        block, begin = int(row["block"]), int(row["begin_ns"])
        begins[block] = min(begins.get(block, begin), begin)
    first, last = min(begins), max(begins)
    return widest, blocks, (begins[last] - begins[first]) / (last - first) / 1e9


def one_run(out: pathlib.Path, noise: str | None, training: list[str], seconds: int, cpus: tuple[int, int]) -> float:
    beside = None
    if noise:
        beside = subprocess.Popen(["noisegen", "--schedule", f"{noise} {10 * seconds}s", "--duration", f"{10 * seconds}s",
                                   "--cpus", str(cpus[1])], env=environment(), stdout=subprocess.DEVNULL)
        time.sleep(2)  # until its memory is allocated
    try:
        must(*training, "--cpus", cpus[0], "--duration", f"{seconds}s", "--out", out)
        if beside and beside.poll() is not None:
            sys.exit(f"efficiency.py: noisegen {noise} ended before the training")
    finally:
        if beside:
            beside.send_signal(signal.SIGTERM)
            beside.wait()
    return mean_step_ms(out)


def by_runs(out: pathlib.Path, noises: dict[str, str], training: list[str], runs: int, seconds: int,
            cpus: tuple[int, int]) -> tuple[float, float, dict[str, list[float]]]:
    """Standard deviation of the mean step between runs, in percent, its degrees of freedom, and the number of runs."""
    kinds: dict[str, str | None] = {"quiet": None, **noises}
    steps: dict[str, list[float]] = {name: [] for name in kinds}
    order = random.Random(1)
    for number in range(1, runs + 1):
        for name in order.sample(list(kinds), len(kinds)):
            steps[name].append(one_run(out / f"{name}-{number}", kinds[name], training, seconds, cpus))
    variances = [statistics.variance([math.log(step) for step in of_kind]) for of_kind in steps.values()]
    return 100.0 * math.sqrt(statistics.fmean(variances)), len(kinds) * (runs - 1), steps


def ratio_interval(ratio: float, freedom_of_runs: float, freedom_of_blocks: float) -> tuple[float, float]:
    draw = random.Random(1)

    def over_its_mean(freedom: float) -> float:
        return draw.gammavariate(freedom / 2, 2) / freedom

    drawn = sorted(over_its_mean(freedom_of_runs) / over_its_mean(freedom_of_blocks) for _ in range(DRAWS))
    return ratio / drawn[int(0.975 * DRAWS)], ratio / drawn[int(0.025 * DRAWS)]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--duration", type=int, default=300, help="length of the rotation, in seconds")
    parser.add_argument("--runs", type=int, default=5, help="number of separate runs of each kind")
    parser.add_argument("--run-seconds", type=int, default=30, help="length of each separate run")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("training", nargs="*", default=TRAINING)
    asked = parser.parse_args()
    if asked.runs < 2:
        parser.error("--runs must be at least 2")
    out: pathlib.Path = asked.out.absolute()
    out.mkdir(parents=True)
    scratch = out / "scratch"
    scratch.mkdir()
    noises = {"memory": "memory.stream", "io": f"io.write[directory={scratch}]", "network": "network.exchange"}
    allowed = sorted(os.sched_getaffinity(0))
    cpus = (allowed[0], allowed[-1])

    half, blocks, block_s = by_rotation(out / "rotation", noises, asked.training, asked.duration, cpus)
    error = half / t_quantile(blocks - 1) * math.sqrt(blocks)
    needed_blocks = least(lambda n: t_quantile(n - 1) * error / math.sqrt(n), 5)
    rotation_minutes = needed_blocks * block_s / 60

    deviation, freedom, steps = by_runs(out, noises, asked.training, asked.runs, asked.run_seconds, cpus)
    needed_runs = least(lambda n: t_quantile(2 * (n - 1)) * deviation * math.sqrt(2 / n), 3)
    kinds = len(steps)
    separate_minutes = kinds * needed_runs * asked.run_seconds / 60

    ratio = separate_minutes / rotation_minutes
    low, high = ratio_interval(ratio, freedom, blocks - 1)
    print(f"rotation: ± {half:.2f} % (the widest of three) after {blocks} blocks of {block_s:.1f} s; "
          f"± {TARGET_PERCENT} % takes {rotation_minutes:.1f} minutes")
    print(f"separate runs of {asked.run_seconds} s differ by {deviation:.2f} % (standard deviation, {freedom} degrees of "
          f"freedom); ± {TARGET_PERCENT} % takes {needed_runs:.1f} of each of {kinds} kinds, {separate_minutes:.1f} minutes")
    print(f"ratio of machine times: {ratio:.1f} (95 % interval {low:.1f} to {high:.1f})")
    if asked.csv:
        with open(asked.csv, "x", newline="", encoding="utf-8") as table:
            writer = csv.writer(table)
            writer.writerow(["quantity", "value"])
            writer.writerows([["rotation_half_width_percent", f"{half:.4f}"], ["rotation_blocks", blocks],
                              ["block_s", f"{block_s:.3f}"], ["rotation_minutes", f"{rotation_minutes:.3f}"],
                              ["run_seconds", asked.run_seconds], ["deviation_of_runs_percent", f"{deviation:.4f}"],
                              ["deviation_degrees_of_freedom", freedom], ["runs_of_each_kind", f"{needed_runs:.2f}"],
                              ["separate_minutes", f"{separate_minutes:.3f}"], ["ratio", f"{ratio:.3f}"],
                              ["ratio_low", f"{low:.3f}"], ["ratio_high", f"{high:.3f}"]])
            writer.writerows([f"mean_step_ms_{name}_{number}", f"{step:.5f}"]
                             for name, of_kind in steps.items() for number, step in enumerate(of_kind, 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
