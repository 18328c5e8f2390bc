// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/mpi/mpi_team.hpp"

#include "base/error.hpp"
#include "trace-tools/otf2/write/clock_comparison.hpp"

#include <array>

#include <sched.h>

namespace otf2 {

namespace {

constexpr int tag = 0;

template <class... Parts>
void check(int code, const Parts&... parts)
{
    if (code == MPI_SUCCESS) return;
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    PMPI_Error_string(code, text.data(), &length);
    base::fail("cannot ", parts..., ": ", text.data());
}

// MPI counts in int.
int count_of(const std::string& bytes)
{
    if (bytes.size() > INT32_MAX)
        base::fail("definitions of ", bytes.size(), " bytes are too large for one MPI message");
    return static_cast<int>(bytes.size());
}

// Yields while it waits, because the peer may share this CPU: spinning would stretch the round trip to a scheduler time
// slice, and make the clock offset as uncertain.
void complete(MPI_Request request)
{
    int done = 0;
    while (true) {
        check(PMPI_Test(&request, &done, MPI_STATUS_IGNORE), "compare clocks");
        if (done != 0) return;
        ::sched_yield();
    }
}

}  // namespace

MpiTeam::MpiTeam(MPI_Comm communicator)
{
    check(PMPI_Comm_dup(communicator, &communicator_), "duplicate a communicator for the trace");
    PMPI_Comm_rank(communicator_, &rank_);
    PMPI_Comm_size(communicator_, &size_);
}

MpiTeam::~MpiTeam()
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (finalized == 0) PMPI_Comm_free(&communicator_);
}

std::vector<std::string> MpiTeam::gather(const std::string& mine)
{
    const auto size = static_cast<std::size_t>(size_);
    const int my_count = count_of(mine);
    std::vector<int> counts(size);
    check(PMPI_Gather(&my_count, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, communicator_), "gather definitions");
    std::vector<int> places(size);
    std::string all;
    if (rank_ == 0) {
        std::size_t total = 0;
        for (std::size_t rank = 0; rank < size; ++rank) {
            places[rank] = static_cast<int>(total);
            total += static_cast<std::size_t>(counts[rank]);
            if (total > INT32_MAX) base::fail("the definitions of all ranks are too large for one MPI message");
        }
        all.resize(total);
    }
    check(PMPI_Gatherv(mine.data(), my_count, MPI_CHAR, all.data(), counts.data(), places.data(), MPI_CHAR, 0,
                       communicator_),
          "gather definitions");
    std::vector<std::string> parts;
    if (rank_ == 0)
        for (std::size_t rank = 0; rank < size; ++rank)
            parts.push_back(all.substr(static_cast<std::size_t>(places[rank]), static_cast<std::size_t>(counts[rank])));
    return parts;
}

std::string MpiTeam::broadcast(const std::string& of_rank_0)
{
    std::string bytes = of_rank_0;
    int count = rank_ == 0 ? count_of(bytes) : 0;
    check(PMPI_Bcast(&count, 1, MPI_INT, 0, communicator_), "broadcast definitions");
    bytes.resize(static_cast<std::size_t>(count));
    check(PMPI_Bcast(bytes.data(), count, MPI_CHAR, 0, communicator_), "broadcast definitions");
    return bytes;
}

void MpiTeam::barrier()
{
    check(PMPI_Barrier(communicator_), "wait for the other processes of the trace");
}

ClockOffset MpiTeam::clock_offset(const std::string& clock_identity)
{
    const auto send = [this](int to, std::span<const std::byte> message) {
        MPI_Request request{};
        check(PMPI_Isend(message.data(), static_cast<int>(message.size()), MPI_BYTE, to, tag, communicator_, &request),
              "compare clocks");
        complete(request);
    };
    const auto receive = [this](int from, std::span<std::byte> message) {
        MPI_Request request{};
        check(
            PMPI_Irecv(message.data(), static_cast<int>(message.size()), MPI_BYTE, from, tag, communicator_, &request),
            "compare clocks");
        complete(request);
    };
    return compare_clocks(*this, clock_identity, send, receive);
}

}  // namespace otf2
