#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are predictions right? Three programs are probed, what each would cost a training is predicted from the training's own
curves, and then each really runs beside it.

    neighbours.py --out DIR [--duration 300] [--blocks 20] [--csv FILE] [-- TRAINING...]

    sort          sorts 200,000 lines, over and over
    compression   compresses 8 MiB, over and over
    gemm          multiplies matrices of 512 x 512, over and over (NumPy, one thread)

TRAINING is the job of crosstalk run, without --out; by default two ranks of an emulated training that does real work.
CROSSTALK_BIN names the folder of the programs. The first allowed core is the training's (and the victim's), the last
one the noise's. Exit code 1 if a prediction lies outside of the measured interval, 3 if one could not be made."""

import argparse
import csv
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
TRAINING = ["mpirun", "-n", "2", "--oversubscribe", "ddl-train", "--model",
            "emulated[compute=20ms,gradients=4MiB,device=memory]", "--data", "synthetic", "--progress", "yield"]
PROGRAMS = {
    "sort": """#!/bin/sh
seq 200000 | awk 'BEGIN { srand(1) } { print rand(), $1 }' > "$0.lines"
while :; do sort "$0.lines" > /dev/null; done
""",
    "compression": """#!/bin/sh
head -c 8388608 /dev/urandom | od -x > "$0.text"
while :; do gzip -6 < "$0.text" > /dev/null; done
""",
    "gemm": """#!/usr/bin/python3
import os
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy
a = numpy.random.default_rng(1).random((512, 512), dtype=numpy.float32)
while True:
    a = a @ a / 512
""",
}
CONTROLS = "placebo, control.delay, control.sham"
LEVELS = "rate=25%|50%|75%|100%"


def run(*words: object) -> int:
    print("+", *words, file=sys.stderr)
    return subprocess.run([str(word) for word in words],
                          env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}, check=False).returncode


def must(*words: object) -> None:
    if run(*words) not in (0, 3):  # 3: noise did not cover the whole run, which the report says
        sys.exit(f"neighbours.py: {words[0]} failed")


def measured(out: pathlib.Path) -> dict[str, tuple[float, float, float]]:
    """Slowdown and 95 % interval by program."""
    with open(out / "report/verdicts.csv", newline="", encoding="utf-8") as table:
        return {row["factor"]: (float(row["effect_percent"]), float(row["low_percent"]), float(row["high_percent"]))
                for row in csv.DictReader(table)}


def predicted(file: pathlib.Path) -> tuple[float, float, float] | None:
    with open(file, newline="", encoding="utf-8") as table:
        last = list(csv.DictReader(table))[-1]
    if last["stressor"] != "together" or not last["slowdown_percent"] or not last["high_percent"]:
        return None
    return float(last["slowdown_percent"]), float(last["low_percent"]), float(last["high_percent"])


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--duration", type=int, default=300, help="length of each of two runs, in seconds")
    parser.add_argument("--blocks", type=int, default=20, help="of each probe")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("training", nargs="*", default=TRAINING)
    asked = parser.parse_args()
    out: pathlib.Path = asked.out.absolute()
    out.mkdir(parents=True)
    cpus = sorted(os.sched_getaffinity(0))
    training_cpu, noise_cpu, limits = cpus[0], cpus[-1], out / "limits.json"
    scratch = out / "scratch"
    scratch.mkdir()

    write = f"io.write[directory={scratch}]"
    must("noisegen", "calibrate", "memory.stream", "cache.llc", write, "network.exchange", "--cpus", noise_cpu,
         "--limits", limits)
    for name, text in PROGRAMS.items():
        (out / name).write_text(text, encoding="utf-8")
        (out / name).chmod(0o755)
        must("noisegen", "probe", "--command", out / name, "--victim", training_cpu, "--cpus", noise_cpu, "--scratch",
             scratch, "--limits", limits, "--blocks", asked.blocks, "--slot", "500ms", "--out", out / f"{name}.probe")

    # noisegen in crosstalk run reads the limits from this user's folder
    kept = out / "cache/crosstalk"
    kept.mkdir(parents=True)
    limits.rename(kept / f"limits-{os.uname().nodename.split('.')[0]}.json")
    os.environ["XDG_CACHE_HOME"] = str(out / "cache")
    curves = (f"rotation(memory.stream[{LEVELS}], cache.llc[{LEVELS}], io.write[directory={scratch},{LEVELS}], "
              f"network.exchange[{LEVELS}], {CONTROLS}; slot=auto)")
    beside = "rotation(" + ", ".join(f"{name}=job.run[file={out / name}]" for name in PROGRAMS) + f", {CONTROLS}; slot=auto)"
    for name, schedule in (("curves", curves), ("beside", beside)):
        must("crosstalk", "run", "--out", out / name, "--duration", f"{asked.duration}s", "--cpus", training_cpu,
             "--noise-cpus", noise_cpu, "--schedule", schedule, "--", *asked.training)

    truth = measured(out / "beside")
    rows = [["program", "predicted_percent", "predicted_low_percent", "predicted_high_percent", "measured_percent",
             "measured_low_percent", "measured_high_percent", "inside"]]
    code = 0
    for name in PROGRAMS:
        run("interference", "predict", out / "curves", "--neighbour", out / f"{name}.probe/probe/pressure.json", "--out",
            out / f"{name}.csv")
        found, real = predicted(out / f"{name}.csv"), truth[name]
        inside = found is not None and real[1] <= found[0] <= real[2]
        overlap = found is not None and found[1] <= real[2] and real[1] <= found[2]
        code = 3 if found is None else code if inside else max(code, 1)
        print(f"{name}: measured {real[0]:+.2f} % ({real[1]:.2f} to {real[2]:.2f}), "
              + ("no prediction: outside of what was measured" if found is None else
                 f"predicted {found[0]:+.2f} % ({found[1]:.2f} to {found[2]:.2f}): "
                 + ("inside" if inside else "intervals overlap" if overlap else "apart")))
        rows.append([name, *(f"{value:.4f}" for value in found or ())] + [""] * (0 if found else 3)
                    + [f"{value:.4f}" for value in real] + [str(int(inside))])
    if asked.csv:
        with open(asked.csv, "x", newline="", encoding="utf-8") as table:
            csv.writer(table).writerows(rows)
    return code


if __name__ == "__main__":
    sys.exit(main())
