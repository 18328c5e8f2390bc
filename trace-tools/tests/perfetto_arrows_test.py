#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The arrows that trace-convert --perfetto draws join what the program joined: each message with its receive, each rank
of a collective with the others; counters of two locations stay apart.

    perfetto_arrows_test.py BIN
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

SPEC = """ranks 3
repeat 5 step {
 MPI_Isend 0>1 1us request=a
 MPI_Send 2>1 5us
 work 1ms, 3ms on 1
 MPI_Wait a
 MPI_Allreduce 10us
 MPI_Bcast 10us root=2
}
"""


def arrows(events):
    """The (kind, id) of each arrow, with its tail and its head: process, time, and the innermost slice at that time.
    Events of one time are in the order of the file, as in Perfetto."""
    ends, stacks = collections.defaultdict(dict), collections.defaultdict(list)
    for event in sorted((event for event in events if event["ph"] in "BEsf"), key=lambda event: event["ts"]):
        stack = stacks[event["pid"], event["tid"]]
        if event["ph"] == "B":
            stack.append(event["name"])
        elif event["ph"] == "E":
            stack.pop()
        else:
            both = ends[event["cat"], event["id"]]
            assert event["ph"] not in both, f"two ends of one kind: {event}"
            both[event["ph"]] = event["pid"] - 2, event["ts"], stack[-1]
    return ends


def main(programs):
    with tempfile.TemporaryDirectory(prefix="crosstalk-test.") as name:
        folder = pathlib.Path(name)
        (folder / "spec").write_text(SPEC)
        subprocess.run([programs / "trace-synth", folder / "spec", "-o", folder / "archive"], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run([programs / "trace-convert", folder / "archive/traces.otf2", "--perfetto", folder / "out.json"],
                       check=True, stdout=subprocess.DEVNULL)
        events = json.loads((folder / "out.json").read_text())["traceEvents"]
        ends = arrows(events)
        seen = collections.Counter()
        for (kind, _), both in ends.items():
            assert set(both) == {"s", "f"}, f"an arrow with one end: {both}"
            (sender, sent, tail), (receiver, received, head) = both["s"], both["f"]
            assert sent <= received, f"an arrow back in time: {both}"
            seen[kind, sender, receiver, tail, head] += 1
        wanted = {("message", 0, 1, "MPI_Isend", "MPI_Wait"): 5, ("message", 2, 1, "MPI_Send", "MPI_Recv"): 5}
        for rank in (1, 2):
            wanted["collective", 0, rank, "MPI_Allreduce", "MPI_Allreduce"] = 5
        for rank in (0, 1):
            wanted["collective", 2, rank, "MPI_Bcast", "MPI_Bcast"] = 5
        assert seen == wanted, f"{seen}"
        print(f"{len(ends)} arrows, each with both of its ends in the right calls")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
