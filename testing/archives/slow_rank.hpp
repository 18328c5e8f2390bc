// SPDX-License-Identifier: Apache-2.0
// A small archive of two ranks, written byte by byte: one rank arrives late at a barrier.
#pragma once

#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/archives/raw_archive.hpp"

#include <array>
#include <filesystem>
#include <string>

namespace testing {

enum Region : OTF2_RegionRef { init, loop, barrier, finalise, step, start, wait_all, send, receive };

inline bool has(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

inline constexpr std::uint64_t ms = 1'000'000;

inline void barrier_of(otf2::RawArchive& archive, OTF2_LocationRef rank, std::uint64_t from, std::uint64_t to)
{
    archive.enter(rank, from, barrier);
    otf2::check(OTF2_EvtWriter_MpiCollectiveBegin(archive.events(rank), nullptr, from), "begin");
    otf2::check(OTF2_EvtWriter_MpiCollectiveEnd(archive.events(rank), nullptr, to, OTF2_COLLECTIVE_OP_BARRIER, 0,
                                                OTF2_UNDEFINED_UINT32, 0, 0),
                "end");
    archive.leave(rank, to, barrier);
}

inline void define(otf2::RawArchive& archive, std::uint64_t ranks, std::uint64_t end, bool self = false)
{
    archive.end_events();
    archive.clock(0, end);
    archive.node(0, "host");
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        archive.process(rank, "MPI Rank " + std::to_string(rank), 0);
        archive.location(rank, "Master thread", rank);
    }
    archive.region(init, "MPI_Init", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    archive.region(loop, "loop");
    archive.region(barrier, "MPI_Barrier", OTF2_REGION_ROLE_BARRIER, OTF2_PARADIGM_MPI);
    archive.region(finalise, "MPI_Finalize", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    archive.region(step, "step");
    archive.region(start, "MPI_Iallreduce", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    archive.region(wait_all, "MPI_Waitall", OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_MPI);
    archive.region(send, "MPI_Send", OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI);
    archive.region(receive, "MPI_Recv", OTF2_REGION_ROLE_POINT2POINT, OTF2_PARADIGM_MPI);
    const OTF2_StringRef name = archive.text("world");
    const std::array<std::uint64_t, 2> members{0, 1};
    const auto group = [&](OTF2_GroupRef number, OTF2_GroupType type, std::uint64_t count) {
        otf2::check(
            OTF2_GlobalDefWriter_WriteGroup(archive.definitions(), number, name, type, OTF2_PARADIGM_MPI,
                                            OTF2_GROUP_FLAG_NONE, static_cast<std::uint32_t>(count), members.data()),
            "define");
    };
    group(0, OTF2_GROUP_TYPE_COMM_LOCATIONS, ranks);
    group(1, self ? OTF2_GROUP_TYPE_COMM_SELF : OTF2_GROUP_TYPE_COMM_GROUP, self ? 0 : ranks);
    otf2::check(
        OTF2_GlobalDefWriter_WriteComm(archive.definitions(), 0, name, 1, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE),
        "define");
    archive.finish();
}

// Both ranks: MPI_Init from 0 to 100 ms, loop from 100 to 200 ms, MPI_Finalize from 200 to 300 ms. The loop contains a
// barrier that ends at 181 ms; rank 0 enters it at 110 ms, rank 1 at 180 ms.
inline std::filesystem::path slow_rank_1(const std::filesystem::path& directory)
{
    otf2::RawArchive archive{directory};
    for (const OTF2_LocationRef rank : {0, 1}) {
        archive.enter(rank, 0, init);
        archive.leave(rank, 100 * ms, init);
        archive.enter(rank, 100 * ms, loop);
        barrier_of(archive, rank, (rank == 0 ? 110 : 180) * ms, 181 * ms);
        archive.leave(rank, 200 * ms, loop);
        archive.enter(rank, 200 * ms, finalise);
        archive.leave(rank, 300 * ms, finalise);
    }
    define(archive, 2, 300 * ms);
    return archive.anchor();
}

}  // namespace testing
