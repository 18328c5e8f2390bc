/* SPDX-License-Identifier: Apache-2.0 */
/* An MPI program that reports its steps and phases: some computing, then a sum over all ranks.
 *
 *     mpicc allreduce.c -lcrosstalk-mark -o allreduce
 *     crosstalk run -- mpirun -n 2 ./allreduce
 */
#include <crosstalk_mark.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { numbers = 1 << 16 };

static double computed(double* values, int step)
{
    double sum = 0.0;
    for (int pass = 0; pass < 50; ++pass)
        for (int i = 0; i < numbers; ++i) {
            values[i] = values[i] * 0.999 + step;
            sum += values[i];
        }
    return sum;
}

int main(int argc, char** argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : 1000000;
    static double ours[numbers], all[numbers];
    double sum = 0.0;
    MPI_Init(&argc, &argv);
    for (int step = 0; step < steps; ++step) {
        crosstalk_step();
        crosstalk_phase("forward");
        sum += computed(ours, step);
        crosstalk_phase("wait_exchange");
        MPI_Allreduce(ours, all, numbers, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    crosstalk_end();
    printf("%g\n", sum + all[0]);
    return MPI_Finalize();
}
