// SPDX-License-Identifier: Apache-2.0
// libcrosstalk-mpi.so preloaded into unmodified programs: what they print of their calls is compared with otf2-print's
// output.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/preloaded.hpp"
#include "testing/testing.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace fs = std::filesystem;
using testing::bin;
using testing::can_run;
using testing::check_sound;
using testing::count;
using testing::Counts;
using testing::entered;
using testing::Lines;
using testing::lines_of;
using testing::programs;
using testing::record;
using testing::Recorded;
using testing::reported;
using testing::run_leaking;
using testing::said;

namespace {

// Returns the seconds of the wait state on rank 0.
double waited(const fs::path& trace, const std::string& pattern)
{
    const testing::Scratch scratch;
    REQUIRE(testing::run({bin / "trace-waits", trace / "traces.otf2", "-o", scratch / "waits"}).status == 0);
    const base::CsvTable table{scratch / "waits/waits.csv"};
    double seconds = 0.0;
    for (std::size_t row = 0; row < table.rows(); ++row)
        if (table.text(row, "pattern") == pattern && table.get<int>(row, "rank") == 0)
            seconds += table.get<double>(row, "seconds");
    return seconds;
}

// Returns the seconds that the program printed.
double polled(const testing::Outcome& outcome)
{
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const double seconds = std::stod(outcome.out);
    CHECK(seconds > 0.05);  // rank 1 is late 20 times by 20 ms; on a busy machine rank 0 is late, too
    return seconds;
}

}  // namespace

TEST_CASE("each call of a C program is recorded once, and tools accept the archive")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = record({programs / "mpi-calls", "all"}, scratch / "trace");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(said(outcome) == Lines{"libcrosstalk-mpi: recorded " + (scratch / "trace/traces.otf2").string()});
    const Counts did = reported(outcome.out);
    CHECK(did.size() > 90);
    CHECK(entered(scratch / "trace", "0") == did);
    CHECK(testing::run({"otf2-print", "--silent", scratch / "trace/traces.otf2"}).status == 0);
    check_sound(scratch / "trace");

    const Recorded recorded{scratch / "trace"};
    const Lines zero = recorded.of("MPI Rank 0/Master thread");
    CHECK(zero.front() == "enter MPI_Init");
    CHECK(zero.back() == "leave MPI_Finalize");
    for (const char* line :
         {"send peer 1 on MPI_COMM_WORLD tag 2 bytes 11", "send peer 1 on MPI_COMM_WORLD tag 3 bytes 12",
          "send peer 1 on MPI_COMM_WORLD tag 4 bytes 13", "send peer 1 on MPI_COMM_WORLD tag 6 bytes 15",
          "send peer 1 on MPI_COMM_WORLD tag 7 bytes 16", "send peer 1 on MPI_COMM_WORLD tag 8 bytes 17",
          "receive peer 1 on MPI_COMM_WORLD tag 20 bytes 20",
          "receive peer 1 on MPI_COMM_WORLD tag 22 bytes 22",  // MPI_Mrecv
          "receive peer 1 on MPI_COMM_WORLD tag 23 bytes 23",  // MPI_Imrecv
          "send peer 1 on MPI_COMM_WORLD tag 31 bytes 31", "receive peer 1 on MPI_COMM_WORLD tag 31 bytes 31",
          "send peer 1 on MPI_COMM_WORLD tag 44 bytes 4",  // persistent
          "scatterv on MPI_COMM_WORLD root 0 sent 12 received 4", "alltoallw on MPI_COMM_WORLD sent 12 received 8",
          "scan on MPI_COMM_WORLD sent 8 received 8", "exscan on MPI_COMM_WORLD sent 8 received 0",
          "gatherv on MPI_COMM_WORLD root 0 sent 4 received 12"})
        CHECK_MESSAGE(count(zero, line) == 1, line);
    CHECK(count(zero, "send peer 1 on MPI_COMM_WORLD tag 41 bytes 1") == 2);  // started twice
    CHECK(count(zero, "receive peer 1 on MPI_COMM_WORLD tag 41 bytes 1") == 2);
    CHECK(count(zero, "send peer 1 on MPI_COMM_WORLD tag 1 bytes 10") == 1);  // and none to MPI_PROC_NULL

    const std::string printed = testing::run({"otf2-print", scratch / "trace/traces.otf2"}).out;
    CHECK(lines_of(printed, "MPI_REQUEST_CANCELLED ").size() == 2);  // one per rank
}

TEST_CASE("of calls that fail nothing but the time is recorded")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = record({programs / "mpi-calls", "failures"}, scratch / "trace");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(entered(scratch / "trace", "0") == reported(outcome.out));
    CHECK(testing::run({bin / "trace-info", scratch / "trace/traces.otf2", "--check"}).status == 0);
    const Lines zero = Recorded{scratch / "trace"}.of("MPI Rank 0/Master thread");
    for (const char* name :
         {"Send", "Isend", "Irecv", "Send_init", "Recv_init", "Sendrecv", "Allreduce", "Iallreduce", "Comm_split"}) {
        const auto first = std::find(zero.begin(), zero.end(), base::join("enter MPI_", name));
        REQUIRE(zero.end() - first > 1);
        CHECK(first[1] == base::join("leave MPI_", name));
    }
    for (int tag = 1; tag <= 8; ++tag) {
        CHECK(count(zero, base::join("send peer 1 on MPI_COMM_WORLD tag ", tag, " bytes 10")) == 2);
        CHECK(count(zero, base::join("receive peer 1 on MPI_COMM_WORLD tag ", tag, " bytes 10")) == 1);
    }
    CHECK(std::count_if(zero.begin(), zero.end(), [](const auto& line) { return line.starts_with("receive peer"); }) ==
          9);
    CHECK(count(zero, "receive peer 1 on MPI_COMM_WORLD tag 9 bytes 10") == 1);
    CHECK(count(zero, "collective begins") == 16);
    CHECK(count(zero, "barrier on MPI_COMM_WORLD sent 0 received 0 request 17") == 1);
    CHECK(testing::run({bin / "trace-waits", scratch / "trace/traces.otf2", "-o", scratch / "waits"}).err ==
          "trace-waits: 16 messages are sent and never received\n");
}

TEST_CASE("a preloaded program's archive keeps the conventions of MPI archives")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    REQUIRE(record({programs / "mpi-calls", "all"}, scratch / "trace").status == 0);
    const std::string printed = testing::run({"otf2-print", "-G", scratch / "trace/traces.otf2"}).out;
    const auto defined = [&](const std::string& what, const std::string& word) {
        const Lines lines = lines_of(printed, what + " ");
        return std::count_if(lines.begin(), lines.end(),
                             [&](const std::string& line) { return line.find(word) != std::string::npos; });
    };
    CHECK(defined("SYSTEM_TREE_NODE_DOMAIN", "MACHINE") == 1);
    CHECK(defined("SYSTEM_TREE_NODE_DOMAIN", "SHARED_MEMORY") == 1);
    CHECK(defined("LOCATION_GROUP", "\"MPI Rank 1\"") == 1);
    CHECK(defined("LOCATION_GROUP", "PROCESS") == 2);
    CHECK(defined("LOCATION", "\"Master thread\"") == 2);
    CHECK(defined("LOCATION", "CPU_THREAD") == 2);
    CHECK(defined("GROUP", "COMM_LOCATIONS, Paradigm: \"MPI\"") == 1);
    CHECK(defined("COMM", "\"MPI_COMM_WORLD\"") == 1);
    CHECK(defined("REGION", "\"MPI_Allreduce\"") == 1);
    CHECK(defined("REGION", "File: UNDEFINED") == static_cast<long>(lines_of(printed, "REGION ").size()));
    CHECK(defined("REGION", "Paradigm: \"MPI\"") == static_cast<long>(lines_of(printed, "REGION ").size()));
    const Recorded recorded{scratch / "trace"};
    for (const otf2::Location& location : recorded.archive().locations) CHECK(location.clock_offsets.size() == 2);
    for (const otf2::Region& region : recorded.archive().regions)
        if (region.name == "MPI_Alltoallw") CHECK(region.role == otf2::RegionRole::all_to_all);
    // The collective begins right after the region is entered and ends right before it is left.
    const Lines one = recorded.of("MPI Rank 1/Master thread");
    const auto reduce = std::find(one.begin(), one.end(), "enter MPI_Allreduce");
    REQUIRE(one.end() - reduce > 3);
    CHECK(Lines(reduce + 1, reduce + 4) ==
          Lines{"collective begins", "allreduce on MPI_COMM_WORLD sent 12 received 12", "leave MPI_Allreduce"});
}

TEST_CASE("communicators are known whatever made them, between groups there is only the time")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    REQUIRE(record({programs / "mpi-calls", "all"}, scratch / "trace").status == 0);
    const Recorded recorded{scratch / "trace"};
    const Lines zero = recorded.of("MPI Rank 0/Master thread");
    Counts barriers;  // by communicator; "only time" if unknown
    for (std::size_t i = 0; i + 1 < zero.size(); ++i) {
        if (zero[i] != "enter MPI_Barrier") continue;
        const bool known = zero[i + 1] == "collective begins";
        ++barriers[known ? zero[i + 2].substr(0, zero[i + 2].find(" sent")) : "only time"];
    }
    // Nine ways to create a communicator and MPI_Intercomm_merge, in turn, under one number; one while another exists;
    // and each rank's own.
    CHECK(barriers == Counts{{"barrier on MPI_COMM_WORLD", 3},
                             {"barrier on MPI_COMM_SELF", 1},
                             {"barrier on communicator 0.1", 10},
                             {"barrier on communicator 0.2", 1},
                             {"barrier on communicator 0.3", 1},
                             {"barrier on duplicate of MPI_COMM_WORLD", 1},
                             {"only time", 1}});
}

TEST_CASE("communicators have the names that the program gives them, on their first rank before others")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = record({programs / "mpi-calls", "names"}, scratch / "trace");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const Recorded recorded{scratch / "trace"};
    Lines names;
    for (const otf2::Communicator& communicator : recorded.archive().communicators) names.push_back(communicator.name);
    CHECK(names == Lines{"everybody", "rows", "columns", "diagonals", "communicator 0.4", "communicator 1.1"});
    const Lines one = recorded.of("MPI Rank 1/Master thread");
    for (const char* name : {"rows", "columns", "diagonals"})
        CHECK(count(one, base::join("barrier on ", name, " sent 0 received 0")) == 2);
    check_sound(scratch / "trace");
}

TEST_CASE("thousands of communicators one after the other are one in the archive")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = record({programs / "mpi-calls", "communicators"}, scratch / "trace");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(entered(scratch / "trace", "1")["MPI_Comm_free"] == 2000);
    const Recorded recorded{scratch / "trace"};
    Lines names;
    for (const otf2::Communicator& communicator : recorded.archive().communicators) names.push_back(communicator.name);
    CHECK(names == Lines{"MPI_COMM_WORLD", "communicator 0.1"});
    check_sound(scratch / "trace");
}

TEST_CASE("polling is waiting, however the program rests between its tests")
{
    if (!can_run()) return;
    for (const char* how : {"spin", "yield", "sleep", "wait"}) {
        INFO("polls: ", how);
        const testing::Scratch scratch;
        const double seconds = polled(record({programs / "mpi-calls", "poll", how}, scratch / "trace"));
        check_sound(scratch / "trace");
        const double exposed = waited(scratch / "trace", "mpi_icollective_exposed");
        CHECK(exposed > 0.5 * seconds);
        CHECK(exposed < 1.01 * seconds);
        CHECK(waited(scratch / "trace", "mpi_icollective_wait") > 0.2 * seconds);
    }
}

TEST_CASE("computing between tests is not waiting")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const double seconds = polled(record({programs / "mpi-calls", "poll", "compute"}, scratch / "trace"));
    CHECK(waited(scratch / "trace", "mpi_icollective_exposed") < 0.2 * seconds);
}

TEST_CASE("probes that find nothing are part of the one that does")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const double seconds = polled(record({programs / "mpi-calls", "poll", "probe"}, scratch / "trace"));
    check_sound(scratch / "trace");
    otf2::Reader reader{scratch / "trace/traces.otf2"};
    otf2::Profile profile{reader.archive()};
    reader.read(profile);
    profile.finish();
    const std::optional<std::uint32_t> region = reader.archive().find_region("MPI_Iprobe");
    REQUIRE(region);
    const double probing = 1e-9 * static_cast<double>(profile.regions()[*region].inclusive_ns.sum);
    CHECK(probing > 0.5 * seconds);
    CHECK(probing < 1.01 * seconds);
}
