// SPDX-License-Identifier: Apache-2.0
// Synthetic archives with known answers: the tables of trace-synth are correct; and what it refuses.
#include "base/csv.hpp"
#include "base/error.hpp"
#include "testing/testing.hpp"
#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/profile/profile.hpp"
#include "trace-tools/synth/thread_team.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

namespace fs = std::filesystem;

namespace {

testing::Outcome run_synth(const testing::Scratch& scratch, const std::string& spec)
{
    std::ofstream{scratch / "spec"} << spec;
    return testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", scratch / "made"});
}

// Seconds by pattern and rank.
using Waits = std::map<std::pair<std::string, int>, double>;

Waits waits_of(const testing::Scratch& scratch)
{
    const base::CsvTable table{scratch / "made/waits.csv"};
    Waits waits;
    for (std::size_t row = 0; row < table.rows(); ++row)
        waits[{table.text(row, "pattern"), table.get<int>(row, "rank")}] += table.get<double>(row, "seconds");
    return waits;
}

using Path = std::map<std::pair<std::string, int>, double>;

Path path_of(const testing::Scratch& scratch)
{
    const base::CsvTable table{scratch / "made/path.csv"};
    Path path;
    for (std::size_t row = 0; row < table.rows(); ++row)
        path[{table.text(row, "region"), table.get<int>(row, "rank")}] = table.get<double>(row, "seconds");
    return path;
}

std::string refusal(const std::string& spec)
{
    const testing::Scratch scratch;
    const testing::Outcome outcome = run_synth(scratch, spec);
    CHECK(outcome.status == 2);
    CHECK_FALSE(fs::exists(scratch / "made"));
    CHECK_FALSE(fs::exists(scratch / "made.tmp"));
    return outcome.err.substr(0, outcome.err.find('\n'));
}

bool says(const std::string& text, const std::string& part)
{
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("whoever comes early to an allreduce waits for the last and the path runs through the last")
{
    const testing::Scratch scratch;
    REQUIRE(run_synth(scratch,
                      "ranks 3\n"
                      "repeat 2 step {\n"
                      "  forward 10ms, 14ms on 1   # rank 1 is late\n"
                      "  MPI_Allreduce 1ms bytes=4MiB\n"
                      "}\n")
                .status == 0);
    CHECK(waits_of(scratch) == Waits{{{"mpi_wait_nxn", 0}, 0.008}, {{"mpi_wait_nxn", 2}, 0.008}});
    CHECK(path_of(scratch) ==
          Path{{{"MPI_Allreduce", 0}, 0.001}, {{"MPI_Allreduce", 1}, 0.001}, {{"forward", 1}, 0.028}});

    otf2::Reader reader{scratch / "made/traces.otf2"};
    otf2::Profile profile{reader.archive()};
    reader.read(profile);
    profile.finish();
    CHECK(profile.problems() == std::vector<std::string>{});
    CHECK(reader.archive().communicators.at(0).members.size() == 3);
    CHECK(profile.communicators().at(0).collectives ==
          std::map<otf2::Operation, std::uint64_t>{{otf2::Operation::allreduce, 6}});
    const otf2::RegionProfile& forward = profile.regions().at(reader.archive().find_region("forward").value());
    CHECK(forward.visits == 6);
    CHECK(forward.inclusive_ns.sum == 2 * (10 + 14 + 10) * 1'000'000);
    CHECK(reader.archive().clock.length_ns == 30'000'000);
}

TEST_CASE("a receiver waits for a late sender and a synchronous sender for a late receiver")
{
    const testing::Scratch scratch;
    REQUIRE(run_synth(scratch,
                      "ranks 2\n"
                      "work 1ms, 5ms on 0\n"
                      "MPI_Send 0>1 2ms\n"
                      "work 20ms on 1\n"
                      "MPI_Ssend 0>1 2ms\n")
                .status == 0);
    CHECK(waits_of(scratch) == Waits{{{"mpi_latesender", 1}, 0.004}, {{"mpi_latereceiver", 0}, 0.021999}});
    CHECK(path_of(scratch) ==
          Path{{{"MPI_Recv", 1}, 0.002}, {{"MPI_Ssend", 0}, 0.002}, {{"work", 0}, 0.005}, {{"work", 1}, 0.020}});
}

TEST_CASE("roots wait for the last rank of a reduction and others for the root of a broadcast")
{
    const testing::Scratch scratch;
    REQUIRE(run_synth(scratch,
                      "ranks 3\n"
                      "communicator pair 1-2\n"
                      "work 1ms, 3ms on 1\n"
                      "MPI_Bcast 1ms root=0 comm=pair\n"  // root is rank 1: rank 2 waits 2 ms
                      "work 1ms on 0\n"
                      "MPI_Reduce 1ms root=0\n")  // rank 0 at 2 ms, the others at 4 ms
                .status == 0);
    CHECK(waits_of(scratch) == Waits{{{"mpi_latebroadcast", 2}, 0.002}, {{"mpi_earlyreduce", 0}, 0.002}});
}

TEST_CASE("of a collective in the background only what is waited for is exposed")
{
    const testing::Scratch scratch;
    REQUIRE(run_synth(scratch,
                      "ranks 2\n"
                      "work 2ms, 7ms on 1\n"
                      "MPI_Iallreduce 10ms request=sum\n"  // started at 2 and 7 ms, over at 17 ms
                      "work 4ms, 8ms on 1\n"               // until 6.001 and 15.001 ms
                      "MPI_Wait sum\n")
                .status == 0);
    CHECK(waits_of(scratch) == Waits{{{"mpi_icollective_exposed", 0}, 0.010999},
                                     {{"mpi_icollective_exposed", 1}, 0.001999},
                                     {{"mpi_icollective_wait", 0}, 0.000999}});
    CHECK(path_of(scratch) == Path{{{"MPI_Wait", 0}, 0.010}, {{"work", 1}, 0.007}});
}

TEST_CASE("a message in the background is waited for where it is waited for")
{
    const testing::Scratch scratch;
    REQUIRE(run_synth(scratch,
                      "ranks 2\n"
                      "work 9ms, 1ms on 1\n"
                      "MPI_Isend 0>1 1ms request=news\n"
                      "work 3ms on 1\n"
                      "MPI_Wait news\n")
                .status == 0);
    CHECK(waits_of(scratch) == Waits{{{"mpi_latesender", 1}, 0.004999}});
}

TEST_CASE("a send waits for its receiver in the call that ends it and not at all if the receive is posted later")
{
    const testing::Scratch scratch;
    REQUIRE(run_synth(scratch,
                      "ranks 2\n"
                      "work 0s, 1500ns on 1\n"
                      "MPI_Isend 0>1 1ms request=early\n"  // until 1 us on rank 0, posted at 1.5 us on rank 1
                      "MPI_Wait early on 0\n"              // from 1 us to 2 us
                      "MPI_Wait early on 1\n"
                      "work 10ms on 1\n"
                      "MPI_Send 0>1 1ms\n")
                .status == 0);
    CHECK(waits_of(scratch) == Waits{{{"mpi_latereceiver", 0}, 0.0000005}});
}

TEST_CASE("MPI_Init and MPI_Finalize are around a program that has MPI calls")
{
    struct Regions : otf2::Visitor {
        void enter(const otf2::At&, std::uint32_t region, const otf2::EventAttributes&) override
        {
            entered.push_back(region);
        }
        std::vector<std::uint32_t> entered;
    };
    for (const bool mpi : {true, false}) {
        const testing::Scratch scratch;
        REQUIRE(run_synth(scratch, mpi ? "work 1ms\nMPI_Barrier 1us\n" : "work 1ms\n").status == 0);
        otf2::Reader reader{scratch / "made/traces.otf2"};
        Regions regions;
        reader.read(regions);
        std::vector<std::string> names;
        for (const std::uint32_t region : regions.entered) names.push_back(reader.archive().regions.at(region).name);
        CHECK(names == (mpi ? std::vector<std::string>{"MPI_Init", "work", "MPI_Barrier", "MPI_Finalize"}
                            : std::vector<std::string>{"work"}));
    }
}

TEST_CASE("clocks that differ are written as they are and read as one")
{
    const testing::Scratch scratch;
    REQUIRE(run_synth(scratch,
                      "ranks 2\n"
                      "clock 1 offset=5ms drift=100\n"
                      "repeat 100 step {\n"
                      "  work 10ms, 12ms on 0\n"
                      "  MPI_Barrier 1ms\n"
                      "}\n")
                .status == 0);
    struct Ends : otf2::Visitor {
        void leave(const otf2::At& at, std::uint32_t, const otf2::EventAttributes&) override
        {
            last[at.location] = at.time_ns;
        }
        std::map<std::uint32_t, std::int64_t> last;
    };
    Ends common;
    otf2::Reader{scratch / "made/traces.otf2"}.read(common);
    CHECK(std::abs(common.last[0] - common.last[1]) <= 2);
    Ends own;
    otf2::Reader raw{scratch / "made/traces.otf2", {.undo_clock_offsets = true}};
    raw.read_by_location(own);
    CHECK_THROWS_AS(raw.read(own), base::Error);
    CHECK(own.last[0] - own.last[1] == doctest::Approx(5'000'000 + 1'300'000 * 0.1).epsilon(0.001));
}

TEST_CASE("a clock that is ahead is read as one, too")
{
    const testing::Scratch scratch;
    REQUIRE(run_synth(scratch, "ranks 2\nclock 1 offset=-5ms\nwork 10ms\nMPI_Barrier 1ms\n").status == 0);
    struct Ends : otf2::Visitor {
        void leave(const otf2::At& at, std::uint32_t, const otf2::EventAttributes&) override
        {
            last[at.location] = at.time_ns;
        }
        std::map<std::uint32_t, std::int64_t> last;
    };
    Ends common;
    otf2::Reader{scratch / "made/traces.otf2"}.read(common);
    CHECK(common.last[0] == common.last[1]);
    Ends own;
    otf2::Reader raw{scratch / "made/traces.otf2", {.undo_clock_offsets = true}};
    raw.read_by_location(own);
    CHECK(own.last[1] - own.last[0] == 5'000'000);
}

TEST_CASE("the same seed gives the same archive and another one another")
{
    const auto path = [](const std::string& seed) {
        const testing::Scratch scratch;
        REQUIRE(run_synth(scratch,
                          "ranks 2\nseed " + seed + "\nrepeat 10 step {\nwork 1ms..9ms\nMPI_Allreduce 1ms..2ms\n}\n")
                    .status == 0);
        return path_of(scratch);
    };
    CHECK(path("1") == path("1"));
    CHECK(path("1") != path("2"));
}

TEST_CASE("programs that make no sense are refused with file and line")
{
    CHECK(says(refusal("ranks 2\nwork 1ms\nMPI_Alreduce 1ms\n"),
               "spec line 3: no call 'MPI_Alreduce'; did you mean MPI_Allreduce?"));
    CHECK(says(refusal("work\n"), "line 1: 'work' is not a statement, and work needs its time"));
    CHECK(says(refusal("ranks 2\nwork 1ms on 2\n"), "line 2: there is no rank 2 of 2"));
    CHECK(says(refusal("repeat 3 step {\nwork 1ms\n"), "an unclosed {"));
    CHECK(says(refusal("work 1ms\n}\n"), "line 2: } without {"));
    CHECK(says(refusal("work 2ms..1ms\n"), "2ms..1ms is not a time or range of times"));
    CHECK(says(refusal("ranks 2\nMPI_Send 0>0 1ms\n"), "a message to itself"));
    CHECK(says(refusal("ranks 2\nMPI_Iallreduce 1ms\n"), "MPI_Iallreduce needs request=NAME"));
    CHECK(says(refusal("ranks 2\nMPI_Iallreduce 1ms request=a\n"), "rank 0 never waits for 'a'"));
    CHECK(says(refusal("ranks 2\nMPI_Barrier 1ms colour=red\n"), "MPI_Barrier knows no colour="));
    CHECK(says(refusal(""), "no statements"));
    CHECK(says(refusal("ranks 999999\nwork 1ms\n"), "ranks are 1 to 65536"));
    CHECK(says(refusal("ranks 2\nMPI_Send 0>1 1ms tag=-1\n"), "line 2: a tag is 0 or more"));
    CHECK(says(refusal("ranks 2\nMPI_Barrier 1ms bytes=1B bytes=2B\n"), "line 2: bytes= is given twice"));
    CHECK(says(refusal("region a {\n} b\n"), "line 2: } must be on its own line"));
}

TEST_CASE("programs that contradict themselves are refused with file and line")
{
    CHECK(says(refusal("region MPI_Barrier {\n}\n"), "spec line 1: 'MPI_Barrier' is reserved for MPI calls"));
    CHECK(says(refusal("repeat 2 MPI_Wait {\n}\n"), "line 1: 'MPI_Wait' is reserved for MPI calls"));
    CHECK(
        says(refusal("ranks 2\ncommunicator a 0\ncommunicator a 1\nwork 1ms\n"), "line 3: duplicate communicator 'a'"));
    CHECK(says(refusal("ranks 2\ncommunicator world 0\nwork 1ms\n"),
               "line 2: duplicate communicator 'world', of all ranks"));
    CHECK(says(refusal("ranks 2\nranks 3\nwork 1ms\n"), "line 2: ranks is given twice"));
    CHECK(says(refusal("seed 2\nseed 3\nwork 1ms\n"), "line 2: seed is given twice"));
}

TEST_CASE("programs that are too long are refused before anything is written")
{
    CHECK(says(refusal("work 9223372035s\n"), "line 1: 9223372035s is longer than 100 days"));
    CHECK(says(refusal("work 1500h\nwork 1500h\n"), "the program takes longer than 100 days"));
    CHECK(says(refusal("ranks 2\nMPI_Barrier 2000h\nMPI_Barrier 2000h\n"), "the program takes longer than 100 days"));
    CHECK(says(refusal("clock 0 offset=9223372035s\nwork 1s\n"), "line 1: 9223372035s is longer than 100 days"));
    CHECK(says(refusal("repeat 1000000000 step {\n}\n"), "line 2: the program makes 2e+09 events"));
    const std::string deep = "repeat 1000000000 step {\n";
    CHECK(says(refusal(deep + deep + deep + "work 1ms\n}\n}\n}\n"), "line 7: the program makes "));
}

TEST_CASE("a program that takes no time is read as one, and so is one of clocks far behind")
{
    for (const char* spec :
         {"ranks 2\nx 0s\n", "ranks 2\nregion a {\n}\n", "ranks 2\nclock 1 offset=2400h drift=-100\nx 0s\n",
          "ranks 2\nclock 0-1 offset=10s\nx 5s\n"}) {
        const testing::Scratch scratch;
        REQUIRE(run_synth(scratch, spec).status == 0);
        const testing::Outcome outcome =
            testing::run({CROSSTALK_BIN "/trace-info", "--check", scratch / "made/traces.otf2"});
        CHECK(outcome.status == 0);
        CHECK(outcome.err == "");
    }
}

TEST_CASE("a directory with a slash at its end is the same directory")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << "work 1ms\n";
    for (const char* name : {"one/", "two//", "three/.", "./four/./"})
        CHECK(testing::run({CROSSTALK_BIN "/trace-synth", scratch / "spec", "-o", (scratch / "").string() + name})
                  .status == 0);
    for (const char* name : {"one", "two", "three", "four"}) {
        CHECK(fs::exists(scratch / name / "traces.otf2"));
        CHECK(fs::exists(scratch / name / "path.csv"));
    }
}

TEST_CASE("a program may come through a pipe")
{
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        testing::run({"bash", "-c", CROSSTALK_BIN "/trace-synth <(echo work 1ms) -o " + (scratch / "made").string()});
    CHECK(outcome.err == "");
    CHECK(outcome.status == 0);
}

TEST_CASE("too few open files are reported before the archive is begun")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << "ranks 200\nwork 1ms\nMPI_Barrier 1ms\n";
    const std::string command =
        std::string{CROSSTALK_BIN "/trace-synth "} + (scratch / "spec").string() + " -o " + (scratch / "made").string();
    const testing::Outcome few = testing::run({"sh", "-c", "ulimit -n 64; " + command});
    CHECK(few.status == 1);
    CHECK(few.err == "trace-synth: 200 ranks need 216 open files, and 64 are allowed (ulimit -n)\n");
    CHECK_FALSE(fs::exists(scratch / "made.tmp"));
    CHECK(testing::run({"sh", "-c", "ulimit -n 216; " + command}).status == 0);
}

TEST_CASE("what cannot be written whole is not there at all")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << "ranks 64\nrepeat 100 step {\nwork 1ms, 2ms on 1\nMPI_Barrier 1ms\n}\n";
    const std::string command = std::string{CROSSTALK_BIN "/trace-synth "} + (scratch / "spec").string() + " -o " +
                                (scratch / "made/here").string();
    // The file size limit stops the tables of this many waits, but not the events of a rank.
    const testing::Outcome outcome = testing::run({"sh", "-c", "trap '' XFSZ; ulimit -f 128; " + command});
    CHECK(outcome.status == 1);
    CHECK(says(outcome.err, "waits.csv"));
    CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    CHECK_FALSE(fs::exists(scratch / "made"));
}

TEST_CASE("output that cannot be written is a failure")
{
    const testing::Scratch scratch;
    std::ofstream{scratch / "spec"} << "work 1ms\n";
    const testing::Outcome outcome =
        testing::run({"sh", "-c",
                      std::string{CROSSTALK_BIN "/trace-synth "} + (scratch / "spec").string() + " -o " +
                          (scratch / "made").string() + " >/dev/full"});
    CHECK(outcome.status == 1);
    CHECK(outcome.err == "trace-synth: cannot write to stdout\n");
}

TEST_CASE("a rank that gives up is waited for by none")
{
    synth::ThreadMeeting meeting{4};
    CHECK_THROWS_WITH_AS(
        synth::on_each_rank(meeting,
                            [&](int rank) {
                                synth::ThreadTeam team{rank, meeting, [] { return otf2::ClockOffset{}; }};
                                team.barrier();
                                if (rank == 2) base::fail("rank 2 has had enough");
                                for (int i = 0; i < 100; ++i) team.broadcast("text");
                            }),
        "rank 2 has had enough", base::Error);
}

TEST_CASE("each rank gets its part, whether a team scatters or broadcasts")
{
    const std::vector<std::string> parts{"a", "", "three"};
    std::vector<std::string> scattered(3);
    std::vector<std::string> broadcast(3);
    synth::ThreadMeeting meeting{3};
    synth::on_each_rank(meeting, [&](int rank) {
        synth::ThreadTeam team{rank, meeting, [] { return otf2::ClockOffset{}; }};
        const std::vector<std::string> given = rank == 0 ? parts : std::vector<std::string>{};
        scattered[static_cast<std::size_t>(rank)] = team.scatter(given);
        broadcast[static_cast<std::size_t>(rank)] = team.Team::scatter(given);
    });
    CHECK(scattered == parts);
    CHECK(broadcast == parts);
}
