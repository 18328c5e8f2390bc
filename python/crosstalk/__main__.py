# SPDX-License-Identifier: Apache-2.0
"""Runs a Python program whose PyTorch training records its steps: python -m crosstalk [-m] PROGRAM [ARGUMENT..]."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

USAGE = """crosstalk-python [--openmetrics FILE] PROGRAM.py [ARGUMENT..]
crosstalk-python [--openmetrics FILE] -m MODULE [ARGUMENT..]

Runs a program with the steps of its PyTorch training recorded, under `crosstalk run`:

  crosstalk run -- mpirun -n 2 crosstalk-python train.py
  crosstalk run -- torchrun --nproc_per_node 2 -m crosstalk train.py

A step ends with the step() of the optimizer; with several, of the last one in each round. Its phases: load
(DataLoader), forward, backward, wait_exchange (DistributedDataParallel, after its last bucket), update
(optimizer), checkpoint (torch.save, torch.distributed.checkpoint). What each checkpoint costs is in
DIR/train/checkpoints.csv, for `interference checkpoints`.

  --openmetrics FILE  write steps and step time every 5 s for Prometheus' node exporter; also without crosstalk run
  --version           print the version and exit"""


def main() -> None:
    words = sys.argv[1:]
    if not words or words[0] in ("-h", "--help"):
        print(USAGE, file=sys.stdout if words else sys.stderr)
        sys.exit(0 if words else 2)
    import crosstalk
    from crosstalk import _torch
    from crosstalk._marks import marks
    from crosstalk._metrics import metrics

    if words[0] == "--version":
        print(f"crosstalk-python {crosstalk.__version__}")
        sys.exit(0)

    metrics_file = None
    if words[0] == "--openmetrics":
        if len(words) < 2:
            print("crosstalk-python: --openmetrics needs a FILE", file=sys.stderr)
            sys.exit(2)
        metrics_file, words = words[1], words[2:]
    if not words:
        print("crosstalk-python: no program given (crosstalk-python --help)", file=sys.stderr)
        sys.exit(2)
    module = words[0] == "-m"
    if module:
        words = words[1:]
    if not words or (not module and not Path(words[0]).exists()):
        complaint = f"there is no {words[0]}" if words else "-m needs the name of a module"
        print(f"crosstalk-python: {complaint}", file=sys.stderr)
        sys.exit(2)
    if metrics_file is not None:
        metrics.start(metrics_file, words[0])
    elif marks.run() is None:
        print("crosstalk-python: steps are not recorded: not started by crosstalk run (CROSSTALK_OUT is not set)",
              file=sys.stderr)
    _torch.watch()
    sys.argv = words
    if module:
        sys.path[0] = ""
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(words[0]).resolve().parent)
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
