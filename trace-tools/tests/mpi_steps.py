# SPDX-License-Identifier: Apache-2.0
"""Twelve steps, each begun by MPI_Pcontrol(1), with three collectives in each. Rank 0 prints their number and between which
two values, in ms, the mean step lies by the program's own clock: it was read on both sides of the first call and of the
last one. Mean over ranks."""
import time

from mpi4py import MPI

STEPS = 12
world = MPI.COMM_WORLD
before, after = [], []
for step in range(STEPS + 1):
    before.append(time.monotonic())
    MPI.Pcontrol(1)
    after.append(time.monotonic())
    if step == STEPS:
        break
    for _ in range(3):
        time.sleep(0.004)
        world.allreduce(step)
    MPI.Pcontrol(2)  # other levels flush buffers in some tools, and mark no step
least = world.allreduce(before[-1] - after[0]) * 1000 / STEPS / world.size
most = world.allreduce(after[-1] - before[0]) * 1000 / STEPS / world.size
if world.rank == 0:
    print(STEPS, least, most)
