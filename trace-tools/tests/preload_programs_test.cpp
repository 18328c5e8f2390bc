// SPDX-License-Identifier: Apache-2.0
// libcrosstalk-mpi.so in programs of all kinds, and what it does if it cannot record.
#include "base/csv.hpp"
#include "testing/archives/listing.hpp"
#include "testing/archives/preloaded.hpp"
#include "testing/testing.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>

namespace fs = std::filesystem;
using testing::bin;
using testing::can_run;
using testing::check_sound;
using testing::count;
using testing::Counts;
using testing::entered;
using testing::has;
using testing::Lines;
using testing::programs;
using testing::record;
using testing::Recorded;
using testing::reported;
using testing::run_leaking;
using testing::said;
using testing::two_ranks;

namespace {

}  // namespace

TEST_CASE("steps that a program begins with MPI_Pcontrol are found before its collectives")
{
    if (!can_run({"command -v mpirun", "/usr/bin/python3 -c 'import mpi4py'"})) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        record({"/usr/bin/python3", fs::path{CROSSTALK_SOURCE} / "trace-tools/tests/mpi_steps.py"}, scratch / "trace");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    int steps = 0;
    double least_ms = 0.0;
    double most_ms = 0.0;
    std::istringstream{outcome.out} >> steps >> least_ms >> most_ms;
    REQUIRE(steps == 12);
    const testing::Outcome found = testing::run({testing::bin / "trace-steps", scratch / "trace/traces.otf2"});
    INFO(found.out, found.err);
    const std::string answer =
        "step 'MPI_Pcontrol to MPI_Pcontrol': " + std::to_string(steps) + " visits on each of 2 ranks, ";
    REQUIRE(found.out.starts_with(answer));
    const double mean_ms = std::stod(found.out.substr(answer.size()));  // rounded to 1 us
    CHECK(mean_ms > least_ms - 0.001);
    CHECK(mean_ms < most_ms + 0.001);
}

TEST_CASE("a Python program with mpi4py is recorded")
{
    if (!can_run({"command -v mpirun", "command -v otf2-print", "/usr/bin/python3 -c 'import mpi4py'"})) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        record({"/usr/bin/python3", fs::path{CROSSTALK_SOURCE} / "trace-tools/tests/mpi_calls.py"}, scratch / "trace");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const Counts expected{{"MPI_Init_thread", 1}, {"MPI_Allreduce", 20}, {"MPI_Isend", 1},
                          {"MPI_Recv", 1},        {"MPI_Wait", 1},       {"MPI_Comm_dup", 1},
                          {"MPI_Barrier", 1},     {"MPI_Comm_free", 1},  {"MPI_Finalize", 1}};
    CHECK(entered(scratch / "trace", "0") == expected);
    CHECK(entered(scratch / "trace", "1") == expected);
    check_sound(scratch / "trace");
}

TEST_CASE("threads of a C++ program have locations of their own, and later ones those of earlier ones")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = record({programs / "mpi-threads", "50"}, scratch / "trace");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const Recorded recorded{scratch / "trace"};
    REQUIRE(recorded.archive().locations.size() == 8);
    for (const std::string rank : {"0", "1"}) {
        long calls = 0;
        for (const char* name : {"Master thread", "thread 1", "thread 2", "thread 3"}) {
            const Lines lines = recorded.of(base::join("MPI Rank ", rank, "/", name));
            const long here = count(lines, "enter MPI_Sendrecv");
            CHECK(here >= 500);
            calls += here;
        }
        CHECK(calls == 4 * 500 + 50);
    }
    check_sound(scratch / "trace");
}

TEST_CASE("threads that memory has no room for are left out, and that is reported")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        run_leaking(two_ranks({programs / "mpi-threads"},
                              {"CROSSTALK_TRACE=" + (scratch / "trace").string(), "CROSSTALK_TRACE_MEMORY=512KiB"}));
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(said(outcome).size() == 3);
    CHECK(outcome.err.find("CROSSTALK_TRACE_MEMORY is too small for all threads") != std::string::npos);
    CHECK(Recorded{scratch / "trace"}.archive().locations.size() == 4);
}

TEST_CASE("full memory goes to the file, which the archive shows as a region")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        run_leaking(two_ranks({programs / "mpi-calls", "flood"},
                              {"CROSSTALK_TRACE=" + (scratch / "trace").string(), "CROSSTALK_TRACE_MEMORY=2MiB"}));
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    Counts counts = entered(scratch / "trace", "0");
    // 9.6 MB of events; each flush writes six of the eight chunks of 256 KiB.
    CHECK(counts["TRACE BUFFER FLUSH"] >= 5);
    CHECK(counts["TRACE BUFFER FLUSH"] <= 8);
    CHECK(counts["MPI_Send"] == 400'000);
    check_sound(scratch / "trace");
}

TEST_CASE("a program that has our wrappers is not recorded a second time")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = record({programs / "mpi-job", scratch / "own"}, scratch / "preloaded");
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(said(outcome) == Lines{"libcrosstalk-mpi: mpi-job has its own MPI wrappers: not recorded a second time"});
    CHECK_FALSE(fs::exists(scratch / "preloaded"));
    const Lines zero = Recorded{scratch / "own"}.of("MPI Rank 0/transport");
    CHECK(count(zero, "enter MPI_Barrier") == 4);
    CHECK(count(zero, "enter MPI_Allreduce") == 3);
}

TEST_CASE("a trace that cannot be begun is reported in one line, and the program runs")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    fs::create_directory(scratch / "there");
    const std::string there = (scratch / "there").string();
    const std::map<std::string, Lines> cases{
        {there + " is already there; give another path", {"CROSSTALK_TRACE=" + there}},
        {"/proc/nowhere", {"CROSSTALK_TRACE=/proc/nowhere/trace"}},
        {"'plenty'", {"CROSSTALK_TRACE=" + there + "2", "CROSSTALK_TRACE_MEMORY=plenty"}},
        {"at least 256KiB", {"CROSSTALK_TRACE=" + there + "3", "CROSSTALK_TRACE_MEMORY=1kB"}}};
    for (const auto& [why, variables] : cases) {
        const testing::Outcome outcome = run_leaking(two_ranks({programs / "mpi-calls", "all"}, variables));
        CHECK_MESSAGE(outcome.status == 0, outcome.err);
        CHECK(reported(outcome.out).size() > 90);
        const Lines lines = said(outcome);
        REQUIRE(lines.size() == 1);
        CHECK_MESSAGE(lines[0].find(why) != std::string::npos, lines[0]);
        CHECK(lines[0].ends_with("; the program runs without a trace"));
    }
}

TEST_CASE("a full disk does not stop the program, and is reported at the end")
{
    if (!can_run({"command -v mpirun", "unshare --mount mount -t tmpfs none /mnt"})) return;
    const testing::Scratch scratch;
    fs::create_directory(scratch / "small");
    Lines words{"unshare",        "--mount", "sh", "-c", "mount -t tmpfs -o size=1m none \"$0\" && exec \"$@\"",
                scratch / "small"};
    const Lines program =
        two_ranks({programs / "mpi-calls", "flood"}, {"CROSSTALK_TRACE=" + (scratch / "small/trace").string()});
    words.insert(words.end(), program.begin(), program.end());
    const testing::Outcome outcome = run_leaking(words);
    CHECK_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(reported(outcome.out)["MPI_Send"] == 400'000);
    const Lines lines = said(outcome);
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("no trace " + (scratch / "small/trace").string()) != std::string::npos);
}

TEST_CASE("a program that aborts or leaves without MPI_Finalize leaves a sound trace of what it did until then")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    for (const char* how : {"abort", "leave"}) {
        INFO(how);
        const fs::path trace = scratch / how;
        const testing::Outcome outcome = record({programs / "mpi-calls", how}, trace);
        CHECK_MESSAGE(outcome.err.find("libcrosstalk-mpi: recorded " + (trace / "traces.otf2").string() + " until ") !=
                          std::string::npos,
                      outcome.err);
        CHECK_FALSE(fs::exists(trace.string() + ".tmp"));
        check_sound(trace);
        CHECK(entered(trace, "1")["MPI_Init"] == 1);
        CHECK(entered(trace, "1")["MPI_Abort"] == 0);
    }
    CHECK(entered(scratch / "abort", "1")["MPI_Barrier"] == 1);
}

TEST_CASE("a program that calls MPI_Finalize while it exits is recorded")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = record({programs / "mpi-calls", "late"}, scratch / "trace");
    CHECK(outcome.status == 0);
    CHECK(said(outcome).size() == 1);
    CHECK(entered(scratch / "trace", "1") == Counts{{"MPI_Init", 1}, {"MPI_Finalize", 1}});
}

TEST_CASE("without a directory the archive goes into a fresh one")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    Lines words = two_ranks({programs / "mpi-calls", "none"}, {});
    words.insert(words.begin() + 1, {"--wdir", scratch.path()});
    for (int run_number = 0; run_number < 2; ++run_number) {
        const testing::Outcome outcome = run_leaking(words);
        REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
        const Lines lines = said(outcome);
        REQUIRE(lines.size() == 1);
        const std::string archive = lines[0].substr(std::string{"libcrosstalk-mpi: recorded "}.size());
        CHECK(archive.starts_with((scratch / "crosstalk-mpi.mpi-calls.").string()));
        CHECK(fs::exists(archive));
    }
    CHECK(std::distance(fs::directory_iterator{scratch.path()}, fs::directory_iterator{}) == 2);
}

TEST_CASE("of a Fortran program it is reported that nothing was recorded")
{
    if (!can_run({"command -v mpirun", "command -v mpif90", "command -v gfortran"})) return;
    const testing::Scratch scratch;
    std::ofstream{scratch / "hello.f90"} << "program hello\nuse mpi\ninteger :: code\ncall MPI_Init(code)\n"
                                            "call MPI_Barrier(MPI_COMM_WORLD, code)\ncall MPI_Finalize(code)\nend\n";
    REQUIRE(testing::run({"mpif90", "-o", scratch / "hello", scratch / "hello.f90"}).status == 0);
    const testing::Outcome outcome = record({scratch / "hello"}, scratch / "trace");
    CHECK_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(said(outcome) == Lines{"libcrosstalk-mpi: no trace of hello: it initialised MPI through an interface other "
                                 "than C, such as Fortran's"});
}
