#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much harm each stressor does to each victim, compared with likwid-bench, stress-ng, fio and iperf3: rows for the
table of results/bench/measurements.md. For a quiet machine with two cores or more; takes about 20 minutes.

    harm.py --out FILE.csv --machine NAME --load TEXT [--blocks 15] [--only memory,disk,network,step]

Everything is measured by `noisegen probe --victim WORDS --peer COMMAND`: in each block each noise is on once, in random
order. CROSSTALK_BIN names the folder of the programs. Peers that are not installed are left out with a line."""
import argparse
import csv
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import bench_rows

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("CROSSTALK_BIN", ROOT / "build/release/bin"))
PORT = 52117

Harm = dict[str, str]  # a row of harm.csv


def iperf3(port: int) -> str:
    """Command of an iperf3 client and its server. A server has one client, so each pair needs its own port."""
    return f"iperf3 -s -p {port} > /dev/null & sleep 0.3; iperf3 -c 127.0.0.1 -p {port} -t 86400"


def peers_of(group: str, scratch: pathlib.Path) -> list[str]:
    def fio(file: str, more: str = "") -> str:
        return (f"fio --name=w --directory={scratch} --filename={file} --size=1g --bs=1m --rw=write --time_based "
                f"--runtime=86400 --unlink=1{more}")

    vectors = "avx512" if " avx512f " in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8") else "avx"
    memory = [*(f"likwid-bench -t {loop}_{vectors} -w N:512MB:1 -s 3600" for loop in ("update", "copy_mem")),
              "stress-ng --stream 1", "stress-ng --cache 1", "stress-ng --memrate 1"]
    return {
        "memory": memory,
        # Each job has its own file: the kernel writes differently to a file that is already in the page cache.
        "disk": [fio("cached"), fio("direct", " --direct=1 --ioengine=libaio --iodepth=8"),
                 fio("grown", " --fallocate=none --overwrite=0"), f"stress-ng --hdd 1 --temp-path {scratch}"],
        "network": [iperf3(PORT), iperf3(PORT + 1) + " -P 64 -l 64", "stress-ng --sock 1", "stress-ng --udp 1"],
        "step": [memory[0], "stress-ng --stream 1", "stress-ng --cache 1", fio("cached"), iperf3(PORT)],
    }[group]


def stressors_of(group: str, scratch: pathlib.Path) -> list[str]:
    there = f"directory={scratch}"
    shapes = "triad|copy|update|read|write|ntwrite|partial|pagewrite|pageupdate"
    return {
        "memory": [f"memory.stream[shape={shapes}]", "memory.random", "memory.chase",
                   "cache.llc[footprint=50%|75%|100%]"],
        "disk": [f"io.write[{there}]", f"small_pages=io.write[{there},pages=small,size=1GiB|4GiB]",
                 f"buffered=io.write[{there},size=1GiB,direct=no]", f"io.random[{there}]",
                 f"io.fsync[{there},dirty=4KiB|1MiB|32MiB|256MiB]", f"metadata.create[{there}]",
                 f"metadata.unlink[{there}]", f"io.smallfiles[{there}]"],
        "network": ["network.stream", "many=network.stream[connections=64]", "small=network.stream[bytes=64B]",
                    "small_many=network.stream[bytes=64B,connections=64]"],
        "step": ["memory.stream[shape=triad|update|partial|pagewrite|pageupdate]", "memory.random", "cache.llc",
                 f"io.write[{there}]", f"io.fsync[{there}]", f"metadata.create[{there}]", "network.stream"],
    }[group]


VICTIMS = {"memory": "bandwidth,latency,llc", "disk": "fsync", "network": "tcp", "step": "step"}
SLOTS = {"memory": "300ms", "disk": "2s", "network": "500ms", "step": "1s"}


def installed(command: str) -> bool:
    program = command.split()[0]
    if shutil.which(program):
        return True
    print(f"harm.py: {program} is not installed: '{command}' is left out", file=sys.stderr)
    return False


def measured(group: str, blocks: int, scratch: pathlib.Path) -> list[Harm]:
    """Measures each noise of the group against each of its victims."""
    cpus = sorted(os.sched_getaffinity(0))
    out = scratch / f"{group}.run"
    words = [str(BIN / "noisegen"), "probe", "placebo", "cpu.spin", *stressors_of(group, scratch),
             "--victim", f"{cpus[0]},{VICTIMS[group]}", "--cpus", str(cpus[-1]), "--slot", SLOTS[group],
             "--blocks", str(blocks), "--scratch", str(scratch), "--out", str(out), "--max-memory", "80%"]
    for peer in peers_of(group, scratch):
        if installed(peer):
            words += ["--peer", peer]
    print("+", *words, file=sys.stderr)
    if subprocess.run(words, check=False).returncode != 0:
        sys.exit(f"harm.py: the probe of {group} failed")
    with open(out / "probe/harm.csv", newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


def worst(rows: list[Harm], victim: str, of_peers: bool) -> Harm | None:
    """The noise under which the victim takes longest."""
    fitting = [row for row in rows if row["victim"] == victim and (row["stressor"] == "peer") == of_peers
               and math.isfinite(float(row["low"]))]
    return max(fitting, key=lambda row: float(row["slowdown"])) if fitting else None


def spread(row: Harm) -> float:
    """Half width of the interval of the logarithm."""
    return (math.log(float(row["high"])) - math.log(float(row["low"]))) / 2.0


def short(noise: str) -> str:
    """A peer's command without paths and lengths, which do not change the load."""
    noise = noise.replace(" > /dev/null", "")
    left_out = ("--directory=", "--filename=", "--name=", "--runtime=", "--temp-path", "--unlink")
    return " ".join(word for word in noise.split() if not word.startswith(left_out) and not word.startswith("/"))


def write(rows: bench_rows.Rows, harms: list[Harm]) -> None:
    for row in harms:
        rows.add(f"{row['victim']}: `{short(row['noise'])}`", "", "found", "times as long", float(row["slowdown"]),
                 float(row["low"]), float(row["high"]))
    for victim in dict.fromkeys(row["victim"] for row in harms):
        ours = worst(harms, victim, of_peers=False)
        peer = worst(harms, victim, of_peers=True)
        if ours is None or peer is None:
            continue
        case = f"most harm to {victim}: `{short(ours['noise'])}`"
        beside = short(peer["noise"])
        ratio = math.log(float(ours["slowdown"]) / float(peer["slowdown"]))
        width = math.hypot(spread(ours), spread(peer))
        rows.add(case, beside, "ours", "times as long", float(ours["slowdown"]), float(ours["low"]), float(ours["high"]))
        rows.add(case, beside, "beside", "times as long", float(peer["slowdown"]))
        rows.add(case, beside, "ratio", "", math.exp(ratio), math.exp(ratio - width), math.exp(ratio + width))
        rows.add(case, beside, "at least", "", 1.0)
        rows.add(case, beside, "holds", "", "yes" if ratio >= 0.0 else "no")
        rows.add(case, beside, "pairs", "", str(ours["blocks"]))


def main() -> int:
    parser = argparse.ArgumentParser()
    bench_rows.add_options(parser)
    parser.add_argument("--blocks", type=int, default=bench_rows.rounds(15))
    bench_rows.add_choice(parser, VICTIMS)
    asked = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        print("harm.py: needs a CPU for the victim and one for the noise", file=sys.stderr)
        return 77
    rows = bench_rows.Rows(asked.out, "harm", asked.machine, asked.load)
    with tempfile.TemporaryDirectory(dir=asked.scratch) as scratch:
        for group in asked.only:
            write(rows, measured(group, asked.blocks, pathlib.Path(scratch)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
