// SPDX-License-Identifier: Apache-2.0
// C++, two ranks: threads that call MPI concurrently, then many short-lived threads with one message each. Usage:
// mpi-threads [SHORT-LIVED-THREADS]
#include <mpi.h>

#include <cstdlib>
#include <latch>
#include <thread>
#include <vector>

namespace {

constexpr int threads = 3;
constexpr int messages = 500;

void exchange(int rank, int tag, int count)
{
    const int other = 1 - rank;
    for (int i = 0; i < count; ++i) {
        double out = i;
        double in = 0;
        MPI_Sendrecv(&out, 1, MPI_DOUBLE, other, tag, &in, 1, MPI_DOUBLE, other, tag, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (in != out) std::abort();
    }
}

}  // namespace

int main(int argc, char** argv)
{
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level != MPI_THREAD_MULTIPLE) return 77;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    std::vector<std::thread> team;
    std::latch done{threads};  // all stay alive until all are done: none takes over another's place
    for (int thread = 0; thread < threads; ++thread)
        team.emplace_back([&done, rank, thread] {
            exchange(rank, thread, messages);
            done.arrive_and_wait();
        });
    exchange(rank, threads, messages);
    for (std::thread& thread : team) thread.join();
    const int short_lived = argc > 1 ? std::atoi(argv[1]) : 0;
    for (int i = 0; i < short_lived; ++i) std::thread{exchange, rank, threads, 1}.join();
    MPI_Finalize();
}
