"""Twelve steps, each begun by MPI_Pcontrol(1), with three collectives in each. The program's own count of them, and its
mean step in ms, are printed by rank 0."""
import time

from mpi4py import MPI

STEPS = 12
world = MPI.COMM_WORLD
begins = []
for step in range(STEPS):
    begins.append(time.monotonic())
    MPI.Pcontrol(1)
    for _ in range(3):
        time.sleep(0.004)
        world.allreduce(step)
    MPI.Pcontrol(2)  # flushes buffers, where a tool does that: no step
begins.append(time.monotonic())
MPI.Pcontrol(1)
if world.rank == 0:
    print(len(begins) - 1, (begins[-1] - begins[0]) * 1000 / STEPS)
