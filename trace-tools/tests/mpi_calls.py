# SPDX-License-Identifier: Apache-2.0
# mpi4py, two ranks: what its own MPI calls are recorded as. Importing it calls MPI_Init_thread, its end MPI_Finalize.
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD
values = array("d", [1.0, 2.0])
sums = array("d", [0.0, 0.0])
for step in range(20):
    world.Allreduce(values, sums)
other = 1 - world.rank
request = world.Isend(values, dest=other, tag=step)
world.Recv(sums, source=other, tag=step)
request.Wait()
duplicate = world.Dup()
duplicate.Barrier()
duplicate.Free()
assert list(sums) == [1.0, 2.0]
