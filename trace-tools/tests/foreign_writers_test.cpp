// SPDX-License-Identifier: Apache-2.0
// Archives as EZTrace, rocprofv3 and lo2s write them: read as far as possible; what is not read is reported.
#include "testing/archives/raw_archive.hpp"
#include "testing/archives/slow_rank.hpp"
#include "testing/programs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>

namespace fs = std::filesystem;
using testing::has;

namespace {

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t us = 1'000;

testing::Outcome run(const char* program, const fs::path& anchor, const char* option = nullptr)
{
    std::vector<std::string> words{testing::bin / program, anchor};
    if (option != nullptr) words.emplace_back(option);
    return testing::run(words);
}

// Writes an archive as EZTrace 2.0 does: MPI calls have paradigm user, each rank defines MPI_COMM_WORLD and its group,
// a definition refers to a missing one, "EZTrace finalize" is left without being entered, and the clock properties are
// rank 0's. list_and_group: the list of locations and the group of MPI_COMM_WORLD, defined by one rank, share an id,
// and rank 1 leaves "main" before "EZTrace finalize" inside it.
fs::path like_eztrace(const fs::path& directory, bool list_and_group = false)
{
    enum : OTF2_RegionRef { main, receive, send, finalize };
    otf2::RawArchive archive{directory};
    for (const OTF2_LocationRef rank : {0U, 1U}) archive.enter(rank, ms, main);
    archive.enter(1, 4 * ms, receive);
    OTF2_EvtWriter_MpiRecv(archive.events(1), nullptr, 10 * ms, 0, 0, 7, 8);
    archive.leave(1, 10 * ms, receive);
    archive.enter(0, 9 * ms, send);
    OTF2_EvtWriter_MpiSend(archive.events(0), nullptr, 9 * ms, 1, 0, 7, 8);
    archive.leave(0, 9 * ms + us, send);
    archive.leave(0, 20 * ms, main);
    const std::uint64_t end = list_and_group ? 260 * ms : 26 * ms;  // late, as on a busy machine
    if (list_and_group) archive.enter(1, end, finalize);
    archive.leave(1, end, main);
    archive.leave(0, 20 * ms, finalize);
    archive.leave(1, end, finalize);
    archive.end_events();
    archive.clock(ms, 20 * ms);
    archive.node(0, "node");
    for (const OTF2_LocationRef rank : {0U, 1U}) {
        archive.process(static_cast<OTF2_LocationGroupRef>(rank), "Process", 0);
        archive.location(rank, "Thread", static_cast<OTF2_LocationGroupRef>(rank));
    }
    archive.region(main, "main");
    archive.region(receive, "MPI_Recv");
    archive.region(send, "MPI_Send");
    archive.region(finalize, "EZTrace finalize");
    const OTF2_StringRef world = archive.text("MPI_COMM_WORLD");
    const std::array<std::uint64_t, 2> ranks{0, 1};
    const OTF2_GroupRef group = list_and_group ? 0 : 1;
    for (int rank = 0; rank < (list_and_group ? 1 : 2); ++rank) {
        OTF2_GlobalDefWriter_WriteGroup(archive.definitions(), 0, world, OTF2_GROUP_TYPE_COMM_LOCATIONS,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, ranks.data());
        OTF2_GlobalDefWriter_WriteGroup(archive.definitions(), group, world, OTF2_GROUP_TYPE_COMM_GROUP,
                                        OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, 2, ranks.data());
        OTF2_GlobalDefWriter_WriteComm(archive.definitions(), 0, world, group, OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
    }
    OTF2_GlobalDefWriter_WriteComm(archive.definitions(), 1, world, 99, OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE);
    archive.finish();
    return archive.anchor();
}

// Writes an archive as rocprofv3 does: the location group of a GPU has no creator. Each of ten rounds of 100 us has a
// copy of 10 us, a kernel of 30 us and an RCCL kernel of 10 us, which ends at 80 us; the host synchronises from 40 to
// 82 us.
fs::path like_rocprofv3(const fs::path& directory, std::uint32_t processes)
{
    enum : OTF2_RegionRef { launch, synchronise, gemm, nccl, copy };
    otf2::RawArchive archive{directory, "results"};
    for (std::uint64_t at = ms; at < 2 * ms; at += 100 * us) {
        const auto visit = [&](OTF2_LocationRef location, OTF2_RegionRef region, std::uint64_t begin,
                               std::uint64_t end) {
            archive.enter(location, at + begin * us, region);
            archive.leave(location, at + end * us, region);
        };
        visit(1, launch, 8, 12);
        visit(1, synchronise, 40, 82);
        visit(2, copy, 10, 20);
        visit(3, gemm, 30, 60);
        visit(3, nccl, 70, 80);
    }
    archive.end_events();
    archive.clock(ms, 2 * ms);
    archive.node(0, "node");
    for (std::uint32_t i = 0; i < processes; ++i) archive.process(i, "./app", 0);
    archive.process(4242, "gfx942", 0, OTF2_LOCATION_GROUP_TYPE_ACCELERATOR);
    archive.location(1, "Thread 0", 0);
    archive.location(2, "Thread 0, Copy to GPU 0", 4242, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
    archive.location(3, "Thread 0, Compute on GPU 0", 4242, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM);
    const auto hip = static_cast<OTF2_Paradigm>(23);
    archive.region(launch, "hipLaunchKernel", OTF2_REGION_ROLE_FUNCTION, hip);
    archive.region(synchronise, "hipDeviceSynchronize", OTF2_REGION_ROLE_FUNCTION, hip);
    archive.region(gemm, "gemm_kernel", OTF2_REGION_ROLE_FUNCTION, hip);
    archive.region(nccl, "ncclDevKernel_Generic(ncclDevComm*)", OTF2_REGION_ROLE_FUNCTION, hip);
    archive.region(copy, "MEMORY_COPY_HOST_TO_DEVICE", OTF2_REGION_ROLE_DATA_TRANSFER, hip);
    archive.finish();
    return archive.anchor();
}

}  // namespace

TEST_CASE("an archive of EZTrace is analysed, and its errors are odd")
{
    const testing::Scratch scratch;
    const fs::path anchor = like_eztrace(scratch / "trace");
    const testing::Outcome info = run("trace-info", anchor, "--check");
    CHECK(info.status == 0);
    for (const char* odd :
         {"3 definitions are duplicated", "1 definitions refer to a missing one",
          "2 regions are left without being entered", "events lie outside of the clock properties' range"})
        CHECK_MESSAGE(has(info.out, odd), info.out);
    const testing::Outcome waits = run("trace-waits", anchor);
    CHECK(waits.status == 0);
    CHECK_MESSAGE((has(waits.out, "mpi_latesender ") && has(waits.out, " 0.005000000 ")), waits.out);
    CHECK(has(waits.out, "rank 0 made the others wait 5.00 ms"));
    for (const char* program : {"trace-path", "trace-info"}) CHECK(run(program, anchor).status == 0);
}

TEST_CASE("EZTrace's list of locations and its group of one number give the communicator of the group")
{
    const testing::Scratch scratch;
    const fs::path anchor = like_eztrace(scratch / "trace", true);
    const testing::Outcome info = run("trace-info", anchor, "--check");
    CHECK_MESSAGE(info.status == 0, info.out);
    const testing::Outcome waits = run("trace-waits", anchor);
    CHECK_MESSAGE(waits.status == 0, waits.err);
    CHECK_MESSAGE((has(waits.out, "mpi_latesender ") && has(waits.out, " 0.005000000 ")), waits.out);
    CHECK(has(waits.out, "rank 0 made the others wait 5.00 ms"));
}

TEST_CASE("a GPU of rocprofv3 belongs to the only process; where there are several a line says that none is known")
{
    const testing::Scratch scratch;
    const testing::Outcome one = run("trace-waits", like_rocprofv3(scratch / "one", 1));
    CHECK_MESSAGE(has(one.out, "0.000974 s in all: computing 30.80 %"), one.out);
    CHECK(has(one.out, "gpu_early_blocking_wait: 0.0004 s in 10 calls"));
    CHECK(one.err == "");
    const testing::Outcome two = run("trace-waits", like_rocprofv3(scratch / "two", 2));
    CHECK_MESSAGE(has(two.err, "gfx942 is left out: no process is known to use it"), two.err);
}

TEST_CASE("samples of calling contexts are counted, and the events' own length is shown where the clock's is another")
{
    const testing::Scratch scratch;
    constexpr std::uint64_t begin = 336'815'537'440'826;
    otf2::RawArchive archive{scratch / "trace"};
    OTF2_EvtWriter_CallingContextEnter(archive.events(0), nullptr, begin, 0, 2);
    for (std::uint64_t i = 1; i <= 100; ++i)
        OTF2_EvtWriter_CallingContextSample(archive.events(0), nullptr, begin + i * ms, 0, 2, 0);
    OTF2_EvtWriter_CallingContextLeave(archive.events(0), nullptr, begin + 101 * ms, 0);
    archive.end_events();
    archive.clock(0, begin + 102 * ms);
    archive.node(0, "node");
    archive.process(0, "./a.out (4711)", 0);
    archive.location(0, "./a.out", 0);
    archive.finish();
    const testing::Outcome info = run("trace-info", archive.anchor());
    CHECK_MESSAGE(has(info.out, "events        101.000 ms from the first to the last"), info.out);
    CHECK(has(info.out, "102 events of calling contexts (samples) are ignored"));
}
