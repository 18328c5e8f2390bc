// SPDX-License-Identifier: Apache-2.0
// Two ranks of a real MPI job write one archive.
#include "base/csv.hpp"
#include "testing/archives/listing.hpp"
#include "testing/testing.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

namespace {

const fs::path job = fs::path{CROSSTALK_BIN} / "../tests/mpi-job";

// Returns false and skips the test if there is no MPI.
bool job_can_run()
{
    if (fs::exists(job) && testing::run({"sh", "-c", "command -v mpirun"}).status == 0) return true;
    testing::skip("no MPI");
    return false;
}

// Runs a command on two ranks, without leak detection, since MPI leaks.
testing::Outcome mpirun(std::vector<std::string> words)
{
    std::vector<std::string> all{
        "env", "ASAN_OPTIONS=detect_leaks=0", "mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none"};
    all.insert(all.end(), words.begin(), words.end());
    return testing::run(all);
}

}  // namespace

TEST_CASE("two ranks that define their regions in different orders write one sound archive")
{
    if (!job_can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = mpirun({job, scratch / "trace"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    otf2::Listing listing{archive};
    reader.read(listing);
    otf2::Profile profile{archive};
    reader.read(profile);
    profile.finish();
    CHECK(archive.problems == Lines{});
    CHECK(reader.problems() == Lines{});
    CHECK(profile.problems() == Lines{});

    REQUIRE(archive.processes.size() == 2);
    CHECK(archive.processes[1].name == "MPI Rank 1");
    CHECK(archive.nodes.size() == 2);
    CHECK(archive.property("crosstalk::test") == "mpi job");
    CHECK(archive.property(archive.locations.back(), "crosstalk::rank") == "1");
    CHECK(archive.find_region("only on rank 1").has_value());

    for (const std::string rank : {"0", "1"}) {
        const Lines main = listing.of("MPI Rank " + rank + "/main");
        REQUIRE(main.size() == 18);
        CHECK(Lines(main.begin(), main.begin() + 6) == Lines{"enter step step=0 who=rank " + rank,
                                                             "queue is 1" + rank + " batches",
                                                             "loss " + rank + " is " + (rank == "0" ? "0 " : "1.5 "),
                                                             "enter forward", "leave forward", "leave step"});
        CHECK(main.at(6) == "enter step step=1 who=rank " + rank);
    }
}

TEST_CASE("MPI calls are recorded with their partners and bytes")
{
    if (!job_can_run()) return;
    const testing::Scratch scratch;
    REQUIRE(mpirun({job, scratch / "trace"}).status == 0);
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    otf2::Listing listing{archive};
    reader.read_by_location(listing);
    const Lines zero = listing.of("MPI Rank 0/transport");
    const Lines one = listing.of("MPI Rank 1/transport");

    const Lines expected_of_zero{"enter MPI_Comm_dup",
                                 "leave MPI_Comm_dup",
                                 "enter MPI_Comm_split",
                                 "leave MPI_Comm_split",
                                 "enter MPI_Allreduce",
                                 "collective begins",
                                 "allreduce on communicator 0.1 sent 64 received 64",
                                 "leave MPI_Allreduce",
                                 "enter MPI_Bcast",
                                 "collective begins",
                                 "broadcast on communicator 0.1 root 1 sent 0 received 32",
                                 "leave MPI_Bcast",
                                 "enter MPI_Alltoallv",
                                 "collective begins",
                                 "alltoallv on communicator 0.1 sent 24 received 16",
                                 "leave MPI_Alltoallv",
                                 "enter MPI_Reduce_scatter",
                                 "collective begins",
                                 "reduce_scatter on communicator 0.1 sent 24 received 8",
                                 "leave MPI_Reduce_scatter",
                                 "enter MPI_Iallreduce",
                                 "collective request 1",
                                 "leave MPI_Iallreduce",
                                 "enter MPI_Test",
                                 "allreduce on communicator 0.1 sent 16 received 16 request 1",
                                 "leave MPI_Test",
                                 "enter MPI_Irecv",
                                 "receive request 2",
                                 "leave MPI_Irecv",
                                 "enter MPI_Irecv",
                                 "receive request 3",
                                 "leave MPI_Irecv",
                                 "enter MPI_Isend",
                                 "send peer 1 on communicator 0.1 tag 7 bytes 40",
                                 "leave MPI_Isend",
                                 "enter MPI_Isend",
                                 "send peer 1 on communicator 0.1 tag 8 bytes 8",
                                 "leave MPI_Isend",
                                 "enter MPI_Waitall",
                                 "receive peer 1 on communicator 0.1 tag 7 bytes 40",
                                 "receive peer 1 on communicator 0.1 tag 8 bytes 8",
                                 "sent request 4",
                                 "sent request 5",
                                 "leave MPI_Waitall",
                                 "enter MPI_Send",
                                 "send peer 1 on communicator 0.1 tag 9 bytes 24",
                                 "leave MPI_Send",
                                 "enter MPI_Barrier",
                                 "collective begins",
                                 "barrier on communicator 0.1 sent 0 received 0",
                                 "leave MPI_Barrier"};
    REQUIRE(zero.size() > expected_of_zero.size());
    CHECK(Lines(zero.begin(), zero.begin() + static_cast<std::ptrdiff_t>(expected_of_zero.size())) == expected_of_zero);
    const auto received = std::find(one.begin(), one.end(), "enter MPI_Recv");
    REQUIRE(received != one.end());
    CHECK(*(received + 1) == "receive peer 0 on communicator 0.1 tag 9 bytes 24");
    CHECK(one.back() == "leave MPI_Comm_free");

    // MPI_COMM_WORLD, its duplicate and one communicator per rank, on the locations that call MPI.
    std::vector<std::string> members;
    for (const otf2::Communicator& communicator : archive.communicators) {
        members.push_back(communicator.name + ":");
        for (const std::uint32_t member : communicator.members) {
            const otf2::Location& location = archive.locations[member];
            members.back() += " " + archive.processes[location.process].name + "/" + location.name;
        }
    }
    std::sort(members.begin(), members.end());
    CHECK(members == Lines{"MPI_COMM_WORLD: MPI Rank 0/transport MPI Rank 1/transport",
                           "communicator 0.1: MPI Rank 0/transport MPI Rank 1/transport",
                           "communicator 0.2: MPI Rank 0/transport", "communicator 1.1: MPI Rank 1/transport"});
}

TEST_CASE("what a reduction of the program's own records is inside of the call")
{
    if (!job_can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = mpirun({job, scratch / "trace", "sum"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    otf2::Listing listing{reader.archive()};
    reader.read_by_location(listing);
    long sums = 0;
    for (const std::string rank : {"0", "1"}) {
        const Lines lines = listing.of("MPI Rank " + rank + "/transport");
        sums += std::count(lines.begin(), lines.end(), "enter sum");
        CHECK(std::count(lines.begin(), lines.end(), "allreduce on MPI_COMM_WORLD sent 4 received 4") == 1);
    }
    CHECK(sums > 0);
}

TEST_CASE("polling begins anew where something else is recorded")
{
    if (!job_can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = mpirun({job, scratch / "trace", "poll"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    double seconds = 0.0;
    double exchanged = 0.0;  // in other exchanges
    std::istringstream{outcome.out} >> seconds >> exchanged;
    CHECK(exchanged > 0.0);
    CHECK(seconds > 0.05);
    REQUIRE(
        testing::run({CROSSTALK_BIN "/trace-waits", scratch / "trace/traces.otf2", "-o", scratch / "waits"}).status ==
        0);
    const base::CsvTable table{scratch / "waits/waits.csv"};
    double exposed = 0.0;
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (table.text(row, "pattern") == "mpi_icollective_exposed" && table.get<int>(row, "rank") == 0)
            exposed += table.get<double>(row, "seconds");
    CHECK(exposed > 0.5 * seconds);
    CHECK(exposed < 1.01 * seconds + exchanged);
}

TEST_CASE("ranks that read the same clock have clock offsets of exactly zero")
{
    if (!job_can_run()) return;
    const testing::Scratch scratch;
    REQUIRE(mpirun({job, scratch / "trace"}).status == 0);
    const otf2::Reader reader{scratch / "trace/traces.otf2"};
    for (const otf2::Location& location : reader.archive().locations) {
        CHECK(location.clock_offsets.size() == 2);
        for (const otf2::ClockOffset& offset : location.clock_offsets) CHECK(offset.offset_ns == 0);
    }
}

TEST_CASE("ranks in different time namespaces get their clock offsets from ping-pongs")
{
    if (!job_can_run()) return;
    // Rank 1's CLOCK_MONOTONIC is 1000 s ahead.
    const std::vector<std::string> ahead{"unshare", "--time", "--monotonic", "1000"};
    if (testing::run({"unshare", "--time", "--monotonic", "1000", "true"}).status != 0) {
        testing::skip("no time namespaces for this user");
        return;
    }
    const testing::Scratch scratch;
    const std::string directory = scratch / "trace";
    const testing::Outcome outcome =
        testing::run({"env", "ASAN_OPTIONS=detect_leaks=0", "mpirun", "--oversubscribe", "--bind-to", "none", "-n", "1",
                      job, directory, ":", "-n", "1", ahead[0], ahead[1], ahead[2], ahead[3], job, directory});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    const otf2::Archive& archive = reader.archive();
    REQUIRE(archive.locations.size() == 4);
    CHECK(archive.clock_identity(archive.locations[0]) != archive.clock_identity(archive.locations[3]));
    for (const otf2::ClockOffset& offset : archive.locations[3].clock_offsets)
        CHECK(std::abs(offset.offset_ns + 1'000'000'000'000) < 10'000'000);

    // On the common clock no rank leaves a barrier before both have entered it, within the error of the ping-pongs.
    struct Barriers : otf2::Visitor {
        explicit Barriers(const otf2::Archive& known) : archive{known} {}
        void collective_begin(const otf2::At& at) override { begin_ns[at.location] = at.time_ns; }
        void collective_end(const otf2::At& at, const otf2::CollectiveRecord& record) override
        {
            if (record.operation != otf2::Operation::barrier) return;
            if (archive.communicators[record.communicator].members.size() != 2) return;
            visits[at.location].emplace_back(begin_ns[at.location], at.time_ns);
        }
        const otf2::Archive& archive;
        std::map<std::uint32_t, std::int64_t> begin_ns;
        std::map<std::uint32_t, std::vector<std::pair<std::int64_t, std::int64_t>>>
            visits;  // begin and end, by location
    };
    Barriers barriers{archive};
    reader.read(barriers);
    constexpr std::int64_t error_ns = 1'000'000;
    REQUIRE(barriers.visits[1].size() == 3);
    REQUIRE(barriers.visits[3].size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(barriers.visits[1][i].second > barriers.visits[3][i].first - error_ns);
        CHECK(barriers.visits[3][i].second > barriers.visits[1][i].first - error_ns);
    }
}

TEST_CASE("an MPI job that dies leaves no archive")
{
    if (!job_can_run()) return;
    const testing::Scratch scratch;
    CHECK(mpirun({job, scratch / "trace", "die"}).status != 0);
    CHECK_FALSE(fs::exists(scratch / "trace"));
    CHECK_FALSE(fs::exists(scratch / "trace.tmp/traces.otf2"));
}

TEST_CASE("ranks that may not record all say so and none waits for the others")
{
    if (!job_can_run()) return;
    const testing::Scratch scratch;
    fs::create_directory(scratch / "trace");
    const testing::Outcome outcome = mpirun({job, scratch / "trace"});
    CHECK(outcome.status != 0);
    CHECK(outcome.err.find("is already there") != std::string::npos);
}
