// SPDX-License-Identifier: Apache-2.0
// Terminal output of trace-waits, trace-path and trace-steps for a whole run and for a part, and what they refuse.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/archives/raw_archive.hpp"
#include "testing/archives/slow_rank.hpp"
#include "testing/programs.hpp"
#include "testing/testing.hpp"
#include "trace-tools/replay/root_causes.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <sstream>

namespace fs = std::filesystem;
using enum testing::Region;
using testing::barrier_of;
using testing::define;
using testing::has;
using testing::ms;
using testing::slow_rank_1;

namespace {

constexpr std::uint64_t second = 1'000 * ms;

void start_of(otf2::RawArchive& archive, OTF2_LocationRef rank, std::uint64_t at, std::uint64_t request)
{
    archive.enter(rank, at, start);
    otf2::check(OTF2_EvtWriter_NonBlockingCollectiveRequest(archive.events(rank), nullptr, at, request), "start");
    archive.leave(rank, at, start);
}

// Rank 0 starts two collectives at 0 and waits for both, rank 1 starts them at 10 and at 30 ms.
fs::path two_in_one_wait(const fs::path& directory)
{
    otf2::RawArchive archive{directory};
    for (const OTF2_LocationRef rank : {0, 1}) {
        start_of(archive, rank, rank * 10 * ms, 1);
        if (rank == 1) {
            archive.enter(rank, 10 * ms, loop);
            archive.leave(rank, 30 * ms, loop);
        }
        start_of(archive, rank, rank * 30 * ms, 2);
        archive.enter(rank, rank * 30 * ms, wait_all);
        for (const std::uint64_t request : {1, 2})
            otf2::check(OTF2_EvtWriter_NonBlockingCollectiveComplete(archive.events(rank), nullptr, 31 * ms,
                                                                     OTF2_COLLECTIVE_OP_ALLREDUCE, 0,
                                                                     OTF2_UNDEFINED_UINT32, 0, 0, request),
                        "complete");
        archive.leave(rank, 31 * ms, wait_all);
    }
    define(archive, 2, 31 * ms);
    return archive.anchor();
}

// Returns the values of pop.csv, by metric and rank.
std::map<std::pair<std::string, std::string>, double> pop(const fs::path& directory)
{
    const base::CsvTable table{directory / "pop.csv"};
    std::map<std::pair<std::string, std::string>, double> values;
    for (std::size_t row = 0; row < table.rows(); ++row)
        values[{table.text(row, "metric"), table.text(row, "rank")}] = table.get<double>(row, "value");
    return values;
}

double sum(const fs::path& file, const std::string& column = "seconds")
{
    const base::CsvTable table{file};
    double seconds = 0.0;
    for (std::size_t row = 0; row < table.rows(); ++row) seconds += table.get<double>(row, column);
    return seconds;
}

}  // namespace

TEST_CASE("trace-waits names the wait states, the rank that waited most and the one that made it wait")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = testing::run({testing::bin / "trace-waits", slow_rank_1(scratch / "trace")});
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    CHECK(has(outcome.out, "2 ranks, the longest took 0.300000 s; % is of the 0.600000 s of all ranks\n"));
    CHECK(has(outcome.out, "mpi_barrier_wait            0.070000000   11.67          1  rank 0 (0.070000 s)\n"));
    CHECK(has(outcome.out, "rank 1 made the others wait 70.00 ms (11.67 % of all ranks' time): loop\n"));
    CHECK(
        has(outcome.out, "parallel efficiency 0.2133 = load balance 0.6465 x serialisation 1.0000 x transfer 0.3300"));
    CHECK(has(outcome.out, "load balance 0.65: rank 1 computes 1.5 x the mean\n"));
    CHECK(has(outcome.out, "MPI_Init takes 33 % of all time; exclude it with --region or --from\n"));
}

TEST_CASE("the efficiencies of a region are those without MPI_Init")
{
    const testing::Scratch scratch;
    const fs::path anchor = slow_rank_1(scratch / "trace");
    const testing::Outcome outcome =
        testing::run({testing::bin / "trace-waits", anchor, "--region", "loop", "-o", scratch / "out"});
    CHECK(outcome.status == 0);
    CHECK(has(outcome.out, "region loop: 2 ranks, the longest took 0.100000 s"));
    CHECK(has(outcome.out, "rank 1 made the others wait 70.00 ms (35.00 % of all ranks' time): loop\n"));
    auto values = pop(scratch / "out");
    CHECK(values[{"run_s", "0"}] == doctest::Approx(0.1));
    CHECK(values[{"mpi_s", "0"}] == doctest::Approx(0.071));
    CHECK(values[{"computation_s", "1"}] == doctest::Approx(0.099));
    CHECK(values[{"wait_time_mpi_s", "0"}] == doctest::Approx(0.07));
    CHECK(values[{"load_balance", "all"}] == doctest::Approx(64.0 / 99.0));
    CHECK(values[{"serialisation_efficiency", "all"}] == doctest::Approx(1.0));
    CHECK(values[{"transfer_efficiency", "all"}] == doctest::Approx(0.99));
}

TEST_CASE("a span of time cuts waits, MPI calls and the path off at its ends")
{
    const testing::Scratch scratch;
    const fs::path anchor = slow_rank_1(scratch / "trace");
    CHECK(
        testing::run({testing::bin / "trace-waits", anchor, "--from", "150ms", "--to", "190ms", "-o", scratch / "out"})
            .status == 0);
    auto values = pop(scratch / "out");
    CHECK(values[{"run_s", "0"}] == doctest::Approx(0.04));
    CHECK(values[{"mpi_s", "0"}] == doctest::Approx(0.031));
    CHECK(values[{"wait_time_mpi_s", "0"}] == doctest::Approx(0.03));
    CHECK(values[{"load_balance", "all"}] == doctest::Approx(24.0 / 39.0));
    CHECK(values[{"transfer_efficiency", "all"}] == doctest::Approx(39.0 / 40.0));
    CHECK(sum(scratch / "out/waits.csv") == doctest::Approx(0.03));

    const testing::Outcome path = testing::run({testing::bin / "trace-path", anchor, "--region", "loop", "--from",
                                                "150ms", "--to", "190ms", "-o", scratch / "path"});
    CHECK(path.status == 0);
    CHECK(has(path.out, "rank 1 made the others wait 30.00 ms (37.50 % of all ranks' time): loop\n"));
    CHECK(sum(scratch / "path/path.csv") == doctest::Approx(0.04));
}

TEST_CASE("of several operations in one call a span cuts each wait where it is")
{
    const testing::Scratch scratch;
    const fs::path anchor = two_in_one_wait(scratch / "trace");
    CHECK(testing::run({testing::bin / "trace-waits", anchor, "--from", "15ms", "-o", scratch / "out"}).status == 0);
    CHECK(pop(scratch / "out")[{"wait_time_mpi_s", "0"}] == doctest::Approx(0.015));  // the second: 15 to 30 ms
    CHECK(testing::run({testing::bin / "trace-path", anchor, "--from", "15ms", "-o", scratch / "path"}).status == 0);
    CHECK(sum(scratch / "path/path.csv", "delay_cost_seconds") == doctest::Approx(0.015));
}

TEST_CASE("a part that only one of the ranks visits has its piece of the critical path")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    for (const OTF2_LocationRef rank : {0, 1}) {
        if (rank == 1) {
            archive.enter(rank, 0, step);
            archive.leave(rank, 70 * ms, step);
        }
        barrier_of(archive, rank, rank * 80 * ms, 81 * ms);
    }
    define(archive, 2, 81 * ms);
    const testing::Outcome outcome = testing::run({testing::bin / "trace-path", archive.anchor(), "--region", "step"});
    CHECK(outcome.status == 0);
    CHECK(has(outcome.out, "  step                                        1    0.070000000  100.00\n"));
}

TEST_CASE("a receive outside of MPI calls leaves the receives after it as they are")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    const auto received = [&](std::uint64_t at, std::uint32_t tag) {
        otf2::check(OTF2_EvtWriter_MpiRecv(archive.events(1), nullptr, at, 0, 0, tag, 8), "receive");
    };
    received(5 * ms, 9);
    for (const std::uint64_t begin : {20 * ms, 60 * ms}) {  // each waits 25 ms for its sender
        archive.enter(0, begin + 25 * ms, send);
        otf2::check(OTF2_EvtWriter_MpiSend(archive.events(0), nullptr, begin + 25 * ms, 1, 0, 7, 8), "send");
        archive.leave(0, begin + 26 * ms, send);
        archive.enter(1, begin, receive);
        received(begin + 27 * ms, 7);
        archive.leave(1, begin + 27 * ms, receive);
    }
    define(archive, 2, 100 * ms);
    const testing::Outcome outcome =
        testing::run({testing::bin / "trace-waits", archive.anchor(), "-o", scratch / "out"});
    CHECK(outcome.status == 0);
    CHECK(has(outcome.err, "1 MPI events have no MPI call"));
    CHECK_FALSE(has(outcome.err, "received before they are sent"));
    CHECK(pop(scratch / "out")[{"wait_time_mpi_s", "1"}] == doctest::Approx(0.05));
}

TEST_CASE("a part that is not there is refused in one line")
{
    const testing::Scratch scratch;
    const fs::path anchor = slow_rank_1(scratch / "trace");
    for (const char* program : {"trace-waits", "trace-path"}) {
        const auto refused = [&](const std::vector<std::string>& words, int status, const std::string& why) {
            std::vector<std::string> command{testing::bin / program, anchor};
            command.insert(command.end(), words.begin(), words.end());
            const testing::Outcome outcome = testing::run(command);
            CHECK(outcome.status == status);
            CHECK(has(outcome.err, why));
        };
        refused({"--region", "lop"}, 2, "--region: no region 'lop' in the archive");
        refused({"--from", "2s", "--to", "1s"}, 2, "--from 2s is not before --to 1s");
        refused({"--from", "1s"}, 1, "lies in from 1s");
        refused({"--region", "step"}, 1, "lies in region step");
    }
}

TEST_CASE("trace-path shows the largest pieces of the path and delay costs, and writes nothing unasked")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = testing::run({testing::bin / "trace-path", slow_rank_1(scratch / "trace")});
    CHECK(outcome.status == 0);
    CHECK(has(outcome.out, "rank 1 made the others wait 70.00 ms (11.67 % of all ranks' time): loop\n"));
    CHECK(has(outcome.out, "  loop                                        1    0.070000000  100.00\n"));
    CHECK(has(outcome.out, "    0.300000000  100.00\n"));  // the whole path
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator{scratch / "."}) ++files;
    CHECK(files == 1);
}

TEST_CASE("where nothing joins threads no critical path is claimed")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    for (const OTF2_LocationRef thread : {0, 1}) {
        archive.enter(thread, 100, loop);
        archive.leave(thread, 200 + thread, loop);
    }
    define(archive, 2, 300);
    const testing::Outcome outcome =
        testing::run({testing::bin / "trace-path", archive.anchor(), "-o", scratch / "path"});
    CHECK(outcome.status == 0);
    CHECK(has(outcome.out, "no critical path"));
    CHECK(base::CsvTable{scratch / "path/path.csv"}.rows() == 0);
    CHECK(has(testing::run({testing::bin / "trace-waits", archive.anchor()}).out, "no MPI in this archive"));
}

TEST_CASE("of a part where nobody calls MPI only that is said")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    archive.enter(0, 0, init);
    archive.leave(0, 100 * ms, init);
    archive.enter(1, 0, step);
    archive.leave(1, 100 * ms, step);
    define(archive, 2, 100 * ms);
    const testing::Outcome outcome = testing::run({testing::bin / "trace-waits", archive.anchor(), "--region", "step"});
    CHECK(outcome.status == 0);
    CHECK(has(outcome.out, "no MPI in this part: no wait states and no efficiencies\n"));
}

TEST_CASE("a location without a rank is called by its name")
{
    otf2::Archive archive;
    archive.locations.resize(2);
    archive.locations[1].name = "stray thread";
    const std::vector<std::int64_t> ranks{0, -1};
    const replay::DelayCosts delay{{{.where = otf2::nowhere, .location = 1}, 2.0}};
    std::ostringstream out;
    replay::print_root_causes(out, replay::root_causes(archive, ranks, delay), {}, {.all_s = 8.0, .ranks = 2});
    CHECK(out.str() ==
          "stray thread made the others wait 2.00 s (25.00 % of all ranks' time): work outside of regions\n");
}

TEST_CASE("collectives of one rank alone raise no warning and have its number")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    archive.enter(0, 0, init);
    archive.leave(0, 100 * ms, init);
    barrier_of(archive, 0, 110 * ms, 120 * ms);
    define(archive, 1, 120 * ms, true);
    const testing::Outcome outcome =
        testing::run({testing::bin / "trace-waits", archive.anchor(), "-o", scratch / "out"});
    CHECK(outcome.status == 0);
    CHECK(outcome.err == "");
    CHECK(pop(scratch / "out").contains({"run_s", "0"}));
}

TEST_CASE("trace-steps shows its table without -o, and steps of a part")
{
    const testing::Scratch scratch;
    otf2::RawArchive archive{scratch / "trace"};
    for (std::uint64_t i = 0; i < 10; ++i) {
        archive.enter(0, i * second, step);
        archive.leave(0, i * second + 900 * ms, step);
    }
    define(archive, 1, 10 * second);
    const testing::Outcome all = testing::run({testing::bin / "trace-steps", archive.anchor()});
    CHECK(all.status == 0);
    CHECK(has(all.out, "step 'step': 10 visits on each of 1 rank, "));
    const testing::Outcome some = testing::run(
        {testing::bin / "trace-steps", archive.anchor(), "--from", "2s", "--to", "5.5s", "-o", scratch / "out"});
    CHECK(some.status == 0);
    CHECK(base::CsvTable{scratch / "out/steps.csv"}.rows() == 3);  // the one from 5 s to 5.9 s ends after the part
}

TEST_CASE("a table that is there already is refused before the events are read")
{
    const testing::Scratch scratch;
    const fs::path anchor = slow_rank_1(scratch / "trace");
    REQUIRE(fs::remove_all(scratch / "trace/traces") > 1);  // reading events would now fail
    const std::map<std::string, std::vector<std::string>> tables{
        {"trace-waits", {"waits.csv", "phases.csv", "pop.csv"}},
        {"trace-path", {"path.csv"}},
        {"trace-steps", {"steps.csv"}}};
    for (const auto& [program, files] : tables) {
        for (const std::string& file : files) {
            const fs::path table = scratch / program / file;
            fs::create_directories(table.parent_path());
            std::ofstream{table} << "kept\n";
            const testing::Outcome outcome = testing::run({testing::bin / program, anchor, "-o", table.parent_path()});
            CHECK(outcome.status == 2);
            CHECK(has(outcome.err, table.string() + " is already there; give another path"));
            CHECK(base::read_whole(table) == "kept\n");
            fs::remove(table);
        }
    }
}
