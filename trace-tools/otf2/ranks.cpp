// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/ranks.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

namespace otf2 {

namespace {

// Ranks in a job in which every communicator has one member, numbered by process (Score-P writes MPI_COMM_WORLD that
// way for a single rank).
std::vector<std::int64_t> alone(const Archive& archive)
{
    std::vector<std::int64_t> by_process(archive.processes.size(), -1);
    std::int64_t next = 0;
    for (std::size_t i = 0; i < by_process.size(); ++i)
        if (!archive.processes[i].accelerator) by_process[i] = next++;
    std::vector<std::int64_t> ranks;
    for (const Location& location : archive.locations)
        ranks.push_back(location.process != nowhere ? by_process[location.process] : -1);
    return ranks;
}

}  // namespace

std::vector<std::int64_t> ranks_of_locations(const Archive& archive)
{
    std::vector<std::int64_t> ranks(archive.locations.size(), -1);
    const Communicator* largest = nullptr;
    for (const Communicator& one : archive.communicators) {
        const bool mpi = one.paradigm == Paradigm::mpi || one.paradigm == Paradigm::unknown;
        if (mpi && (largest == nullptr || one.members.size() > largest->members.size())) largest = &one;
    }
    if (largest == nullptr) return ranks;
    if (largest->members.empty() && largest->self) return alone(archive);
    std::vector<std::int64_t> by_process(archive.processes.size(), -1);
    for (std::size_t rank = 0; rank < largest->members.size(); ++rank) {
        const std::uint32_t location = largest->members[rank];
        if (location >= ranks.size()) continue;
        ranks[location] = static_cast<std::int64_t>(rank);
        const std::uint32_t process = archive.locations[location].process;
        if (process != nowhere) by_process[process] = static_cast<std::int64_t>(rank);
    }
    for (std::size_t i = 0; i < ranks.size(); ++i)
        if (archive.locations[i].process != nowhere && ranks[i] < 0)
            ranks[i] = by_process[archive.locations[i].process];
    return ranks;
}

std::string rank_text(const Archive& archive, const std::vector<std::int64_t>& ranks, std::uint32_t location)
{
    return ranks[location] >= 0 ? base::join("rank ", ranks[location])
                                : base::printable(archive.locations[location].name);
}

}  // namespace otf2
