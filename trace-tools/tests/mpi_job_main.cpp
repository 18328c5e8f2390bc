// SPDX-License-Identifier: Apache-2.0
// A small MPI job for the tests: two or more ranks that define their regions in different orders and exchange data in
// every way that is recorded. Usage: mpi-job DIRECTORY [die|poll|sum]. poll: rank 0 prints how many seconds it polled,
// and how many its other exchanges took. sum: a user-defined reduction records events inside MPI.
#include "base/error.hpp"
#include "trace-tools/mpi/mpi_team.hpp"
#include "trace-tools/mpi/record_mpi.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <mpi.h>

#include <array>
#include <chrono>
#include <iostream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

constexpr int steps = 3;

void exchange(int rank, int size, MPI_Comm communicator)
{
    const int right = (rank + 1) % size;
    const int left = (rank + size - 1) % size;
    std::array<double, 8> mine{};
    std::array<double, 8> theirs{};

    MPI_Allreduce(mine.data(), theirs.data(), 8, MPI_DOUBLE, MPI_SUM, communicator);
    MPI_Bcast(mine.data(), 4, MPI_DOUBLE, 1, communicator);

    // Rank r receives r + 1 numbers from each rank.
    const auto ranks = static_cast<std::size_t>(size);
    std::vector<int> sent(ranks);
    std::iota(sent.begin(), sent.end(), 1);
    std::vector<int> sent_places(ranks);
    std::exclusive_scan(sent.begin(), sent.end(), sent_places.begin(), 0);
    const std::vector<int> received(ranks, rank + 1);
    std::vector<int> received_places(ranks);
    std::exclusive_scan(received.begin(), received.end(), received_places.begin(), 0);
    std::vector<double> dealt(ranks * (ranks + 1) / 2);
    std::vector<double> got(ranks * static_cast<std::size_t>(rank + 1));
    MPI_Alltoallv(dealt.data(), sent.data(), sent_places.data(), MPI_DOUBLE, got.data(), received.data(),
                  received_places.data(), MPI_DOUBLE, communicator);
    MPI_Reduce_scatter(dealt.data(), got.data(), sent.data(), MPI_DOUBLE, MPI_SUM, communicator);

    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(mine.data(), theirs.data(), 2, MPI_DOUBLE, MPI_SUM, communicator, &request);
    for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);

    // Two small sends in flight: Open MPI may give both the same request handle.
    std::array<double, 8> more{};
    std::array<MPI_Request, 4> all{};
    MPI_Irecv(theirs.data(), 8, MPI_DOUBLE, left, 7, communicator, &all[0]);
    MPI_Irecv(more.data(), 8, MPI_DOUBLE, left, 8, communicator, &all[1]);
    MPI_Isend(mine.data(), 5, MPI_DOUBLE, right, 7, communicator, &all[2]);
    MPI_Isend(mine.data(), 1, MPI_DOUBLE, right, 8, communicator, &all[3]);
    MPI_Waitall(4, all.data(), MPI_STATUSES_IGNORE);

    if (rank == 0) MPI_Send(mine.data(), 3, MPI_DOUBLE, 1, 9, communicator);
    if (rank == 1) MPI_Recv(theirs.data(), 8, MPI_DOUBLE, 0, 9, communicator, MPI_STATUS_IGNORE);
    MPI_Barrier(communicator);
}

// Returns the seconds polled in 20 rounds, in each of which rank 1 is late. In every other round rank 0 records another
// region after 10 ms; polling before that does not count.
double poll(int rank, otf2::LocationRecorder& transport, otf2::RegionRef interruption)
{
    double seconds = 0.0;
    for (int round = 0; round < 20; ++round) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) std::this_thread::sleep_for(20ms);
        const int mine = 1;
        int sum = 0;
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
        double begin = MPI_Wtime();
        bool interrupt = rank == 0 && round % 2 == 1;
        for (int done = 0; done == 0;) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            if (done == 0 && interrupt && MPI_Wtime() > begin + 0.01) {
                const otf2::Scope scope{transport, interruption};
                begin = MPI_Wtime();
                interrupt = false;
            }
        }
        seconds += MPI_Wtime() - begin;
    }
    return seconds;
}

// Location for add(): MPI passes no context to a user-defined operation.
otf2::LocationRecorder* sums = nullptr;

void add(void* these, void* to, int* count, MPI_Datatype*)
{
    const otf2::Scope scope{*sums, sums->recorder().region("sum")};
    for (int i = 0; i < *count; ++i) static_cast<int*>(to)[i] += static_cast<int*>(these)[i];
}

void reduce_in_public(otf2::LocationRecorder& transport)
{
    sums = &transport;
    MPI_Op operation = MPI_OP_NULL;
    MPI_Op_create(add, 1, &operation);
    const int mine = 1;
    int all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, operation, MPI_COMM_WORLD);
    MPI_Op_free(&operation);
}

void job(const std::string& directory, const std::string& how)
{
    int rank = 0;
    int size = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    otf2::Recorder recorder{directory, std::make_unique<otf2::MpiTeam>(MPI_COMM_WORLD)};
    otf2::LocationRecorder& main = recorder.location("main");
    otf2::LocationRecorder& transport = recorder.location("transport");
    otf2::record_mpi_here(transport);

    // Each rank defines its regions in a different order.
    std::vector<std::string> names{"load", "forward", "step"};
    if (rank == 1) names = {"step", "only on rank 1", "forward", "load"};
    for (const std::string& name : names) recorder.region(name);
    const otf2::RegionRef step = recorder.region("step");
    const otf2::RegionRef forward = recorder.region("forward");
    const otf2::AttributeRef number = recorder.attribute("step", otf2::Type::uint64);
    const otf2::AttributeRef who = recorder.attribute("who", otf2::Type::text);
    const otf2::TextRef me = recorder.text("rank " + std::to_string(rank));
    const otf2::MetricRef loss = recorder.metric("loss " + std::to_string(rank), "", otf2::Type::real);
    const otf2::MetricRef shared = recorder.metric("queue", "batches", otf2::Type::uint64);
    recorder.property("crosstalk::test", "mpi job");
    recorder.process_property("crosstalk::rank", std::to_string(rank));

    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Comm alone = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone);
    double exchanged = 0.0;
    for (int i = 0; i < steps; ++i) {
        const otf2::Scope whole{main, step, {{number, i}, {who, me}}};
        main.metric(shared, rank + 10);
        main.metric(loss, 1.5 * rank);
        main.enter(forward);
        main.leave(forward);
        const double begin = MPI_Wtime();
        exchange(rank, size, duplicate);
        exchanged += MPI_Wtime() - begin;
    }
    if (how == "die" && rank == 1) std::_Exit(9);
    if (how == "poll") {
        const double seconds = poll(rank, transport, recorder.region("interruption"));
        if (rank == 0) std::cout << seconds << ' ' << exchanged << '\n';
    }
    if (how == "sum") reduce_in_public(transport);
    MPI_Barrier(alone);
    MPI_Comm_free(&alone);
    MPI_Comm_free(&duplicate);
    otf2::record_mpi_no_more();
    MPI_Barrier(MPI_COMM_WORLD);  // not recorded
    recorder.finish();
}

}  // namespace

int main(int argc, char** argv)
{
    int thread_level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &thread_level);
    try {
        job(argv[1], argc > 2 ? argv[2] : "");
    } catch (...) {
        MPI_Abort(MPI_COMM_WORLD, base::report_failure("mpi-job"));
    }
    MPI_Finalize();
    return 0;
}
