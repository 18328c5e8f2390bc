#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How exactly noisegen holds a rate, in windows of a tenth of a second and after a stall, compared with iperf3 and fio: rows
for the table of results/bench/measurements.md. For a quiet machine; 15 pairs take about 25 minutes.

    rates.py --out FILE.csv --machine NAME --load TEXT [--pairs 15] [--only given,share,stall]

    given   network.stream[rate=1GiB/s] for 10 s, and iperf3 -b at the same rate, in turns
    share   memory, disk and network at 80 % of the limit, and at what `noisegen limits` says windows hold
    stall   the largest window after a SIGSTOP of one second, at 200 MiB/s, and that of fio and iperf3

CROSSTALK_BIN names the folder of the programs."""
import argparse
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import bench_rows
from bench_rows import median_interval, quantile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
CPU = str(sorted(os.sched_getaffinity(0))[-1])
GIB = 1 << 30
MIB = 1 << 20
PORT = "52118"
STRESSORS = {"memory": "memory.stream[shape=update", "disk": "io.write[size=128MiB,block=64KiB,depth=64",
             "network": "network.stream[bytes=256KiB"}


def rows_of(path: pathlib.Path) -> list[dict[str, str]]:
    with open(path, newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def amounts(noise: pathlib.Path) -> list[tuple[float, float]]:
    """Seconds and bytes of each window."""
    return [((float(row["end_ns"]) - float(row["begin_ns"])) * 1e-9, float(row["bytes"]))
            for row in rows_of(noise / "samples.csv")]


def part_of(out: pathlib.Path) -> pathlib.Path:
    return next(path for path in (out / "noise").iterdir() if path.is_dir())


class Held:
    """The rate of a run of noisegen relative to the requested rate, from its records."""

    def __init__(self, out: pathlib.Path) -> None:
        part = part_of(out)
        slots = rows_of(part / "noise.csv")
        self.target = float(slots[0]["requested"])
        done = sum(float(row["bytes"]) for row in slots)
        seconds = sum(float(row["end_ns"]) - float(row["begin_ns"]) for row in slots) * 1e-9
        self.mean_percent = (done / seconds / self.target - 1.0) * 100.0
        self.windows_percent = [(number / length / self.target - 1.0) * 100.0
                                for length, number in amounts(part)[1:-1] if length >= 0.09]


def noise_words(out: pathlib.Path, schedule: str, limits: pathlib.Path | None = None) -> list[str]:
    words = [str(BIN / "noisegen"), schedule, "--cpus", CPU, "--out", str(out)]
    return words + (["--limits", str(limits)] if limits else [])


def held(out: pathlib.Path, schedule: str, limits: pathlib.Path | None = None) -> tuple[Held, str]:
    """Runs noisegen; returns what it held, and its messages on stderr."""
    done = subprocess.run(noise_words(out, schedule, limits), check=False, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"rates.py: noisegen failed: {done.stderr}")
    return Held(out), done.stderr


class Server:
    """An iperf3 server that runs inside of a with statement."""

    def __enter__(self) -> "Server":
        self.process = subprocess.Popen(["taskset", "-c", CPU, "iperf3", "-s", "-p", PORT], stdout=subprocess.DEVNULL)
        time.sleep(0.3)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


def iperf3(bytes_per_s: float, seconds: int, stall: bool = False) -> list[float]:
    """Bytes per second in each tenth of a second at that rate. With stall, iperf3 is stopped for 1 s after 2 s."""
    words = ["taskset", "-c", CPU, "iperf3", "-c", "127.0.0.1", "-p", PORT, "-t", str(seconds), "-i", "0.1", "-b",
             str(int(bytes_per_s * 8)), "--json"]
    with Server() as server:
        client = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        if stall:
            stop_for_a_second([client.pid, server.process.pid])
        text, _ = client.communicate()
    return [float(one["sum"]["bits_per_second"]) / 8.0 for one in json.loads(text)["intervals"]]


def stop_for_a_second(processes: list[int]) -> None:
    time.sleep(2.0)
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(1.0)
    for pid in processes:
        os.kill(pid, signal.SIGCONT)


def add_within(rows: bench_rows.Rows, case: str, beside: str, unit: str, low: float, high: float, aim: float) -> None:
    rows.add(case, beside, "within", unit, None, -aim, aim)
    rows.add(case, beside, "holds", "", "yes" if -aim <= low and high <= aim else "no")


def given(rows: bench_rows.Rows, scratch: pathlib.Path, pairs: int) -> None:
    """The mean is judged by its median over runs, windows by the 5th and 95th percentile of all."""
    means, windows, peer_means, peer_windows = [], [], [], []
    for pair in range(pairs):
        ours, _ = held(scratch / f"given{pair}", "network.stream[rate=1GiB/s] 10s")
        means.append(ours.mean_percent)
        windows += ours.windows_percent
        if shutil.which("iperf3"):
            tenths = [(speed / GIB - 1.0) * 100.0 for speed in iperf3(GIB, 10)]
            peer_means.append(sum(tenths) / len(tenths))
            peer_windows += tenths[1:-1]
    peer = "iperf3 -b" if peer_means else ""
    case = "`network.stream[rate=1GiB/s]`, 10 s: mean error"
    middle, low, high = median_interval(means)
    rows.add(case, peer, "found", "%", middle, low, high)
    if peer:
        rows.add(case, peer, "beside", "%", *median_interval(peer_means))
    add_within(rows, case, peer, "%", middle, middle, 0.1)
    rows.add(case, peer, "pairs", "", str(pairs))
    case = "`network.stream[rate=1GiB/s]`: error in windows of 100 ms, 5th to 95th percentile"
    low, high = quantile(windows, 0.05), quantile(windows, 0.95)
    rows.add(case, peer, "found", "%", None, low, high)
    if peer:
        rows.add(case, peer, "beside", "%", None, quantile(peer_windows, 0.05), quantile(peer_windows, 0.95))
    add_within(rows, case, peer, "%", low, high, 2.0)
    rows.add(case, peer, "pairs", "", str(pairs))


def calibrate(scratch: pathlib.Path) -> pathlib.Path:
    """Runs noisegen calibrate with rounds of the same length as the judged windows."""
    limits = scratch / "limits.json"
    subprocess.run([str(BIN / "noisegen"), "calibrate", *(text + "]" for text in STRESSORS.values()), "--cpus", CPU,
                    "--rounds", "100", "--round", "100ms", "--limits", str(limits)], check=True, stdout=sys.stderr)
    return limits


def window_level(limits: pathlib.Path, stressor: str) -> float:
    """The rate in bytes per second that windows hold."""
    for entry in json.loads(limits.read_text(encoding="utf-8"))["limits"]:
        if entry["stressor"] == stressor:
            return float(entry["windows_of_100ms"]["bytes_per_s"])
    sys.exit(f"rates.py: no limit of {stressor}")


def share(rows: bench_rows.Rows, scratch: pathlib.Path, pairs: int) -> None:
    """Measures rates at 80 % of the worst round, and just below the rate that windows hold, by family in turns."""
    limits = calibrate(scratch)
    windows: dict[str, list[float]] = {}
    means: dict[str, list[float]] = {}
    warned: set[str] = set()
    for _ in range(pairs):
        for family, stressor in STRESSORS.items():
            level = int(0.9 * window_level(limits, stressor.split("[")[0]))
            for name, rate in ((f"{family}, 80 % of the limit", "80%"), (f"{family}, 90 % of what windows hold", f"{level}B/s")):
                out = scratch / "share"
                found, said = held(out, f"{stressor},rate={rate}] 10s", limits)
                windows.setdefault(name, []).extend(found.windows_percent)
                means.setdefault(name, []).append(found.mean_percent)
                if "windows of 100 ms sustain" in said:
                    warned.add(name)
                shutil.rmtree(out)
    for name, percents in windows.items():
        low, high = quantile(percents, 0.05), quantile(percents, 0.95)
        case = f"{name}: error in windows of 100 ms, 5th to 95th percentile"
        case += " (warned of before)" if name in warned else ""
        rows.add(case, "", "found", "%", None, low, high)
        add_within(rows, case, "", "%", low, high, 2.0)
        rows.add(case, "", "pairs", "", str(pairs))
        case = f"{name}: mean error"
        rows.add(case, "", "found", "%", *median_interval(means[name]))


def fio_after_a_stall(scratch: pathlib.Path) -> float:
    """fio's largest window after a stall, relative to the rate."""
    log = scratch / "fio"
    child = subprocess.Popen(
        ["taskset", "-c", CPU, "fio", "--name=w", f"--directory={scratch}", "--size=256m", "--bs=1m", "--rw=write",
         "--direct=1", "--rate=200m", "--time_based", "--runtime=6", "--unlink=1", "--thread", f"--write_bw_log={log}",
         "--log_avg_msec=100"], stdout=subprocess.DEVNULL)
    stop_for_a_second([child.pid])
    child.wait()
    with open(f"{log}_bw.1.log", encoding="utf-8") as lines:
        return max(float(line.split(",")[1]) * 1024.0 for line in lines) / (200.0 * MIB)


def ours_after_a_stall(out: pathlib.Path, schedule: str) -> float:
    child = subprocess.Popen(noise_words(out, schedule), stdout=subprocess.DEVNULL)
    stop_for_a_second([child.pid])
    child.wait()
    return max(number / length for length, number in amounts(part_of(out)) if length > 0.05) / (200.0 * MIB)


def stall(rows: bench_rows.Rows, scratch: pathlib.Path, pairs: int) -> None:
    """Measures stalls with the options' defaults, as users write them."""
    plain = {"memory": "memory.stream", "disk": f"io.write[directory={scratch}]", "network": "network.stream"}
    ours: dict[str, list[float]] = {}
    peers: dict[str, list[float]] = {}
    for pair in range(pairs):
        for family, stressor in plain.items():
            rated = stressor.rstrip("]") + ("," if "[" in stressor else "[") + "rate=200MiB/s] 6s"
            ours.setdefault(family, []).append(ours_after_a_stall(scratch / f"stall{pair}.{family}", rated))
            if family == "disk" and shutil.which("fio"):
                peers.setdefault(family, []).append(fio_after_a_stall(scratch))
            if family == "network" and shutil.which("iperf3"):
                peers.setdefault(family, []).append(max(iperf3(200.0 * MIB, 6, stall=True)) / (200.0 * MIB))
    for family, found in ours.items():
        case = f"{family}: largest window of 100 ms after SIGSTOP for 1 s"
        peer = {"disk": "fio", "network": "iperf3"}[family] if family in peers else ""
        rows.add(case, peer, "found", "x target", *median_interval(found))
        if peer:
            rows.add(case, peer, "beside", "x target", *median_interval(peers[family]))
        rows.add(case, peer, "at most", "x target", 1.05)
        rows.add(case, peer, "pairs", "", str(pairs))
        case += ", the worst of all runs"
        rows.add(case, peer, "found", "x target", max(found))
        if peer:
            rows.add(case, peer, "beside", "x target", max(peers[family]))
        rows.add(case, peer, "at most", "x target", 1.05)


PARTS = {"given": given, "share": share, "stall": stall}


def main() -> int:
    parser = argparse.ArgumentParser()
    bench_rows.add_options(parser)
    parser.add_argument("--pairs", type=int, default=bench_rows.rounds(15))
    bench_rows.add_choice(parser, PARTS)
    asked = parser.parse_args()
    rows = bench_rows.Rows(asked.out, "promises-bench", asked.machine, asked.load)
    for part in asked.only:
        with tempfile.TemporaryDirectory(dir=asked.scratch) as scratch:
            PARTS[part](rows, pathlib.Path(scratch), asked.pairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
