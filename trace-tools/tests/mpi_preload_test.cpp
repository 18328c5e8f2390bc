// libcrosstalk-mpi.so, preloaded into programs that know nothing of it. What they did they say themselves; what was
// recorded otf2-print says.
#include "base/csv.hpp"
#include "base/files.hpp"
#include "testing/listing.hpp"
#include "testing/testing.hpp"
#include "trace-tools/profile/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;
using Counts = std::map<std::string, int>;

namespace {

#ifdef CROSSTALK_PRELOAD
const std::string library = CROSSTALK_PRELOAD;
#else
const std::string library;
#endif
const fs::path bin = CROSSTALK_BIN;
const fs::path programs = bin / "../tests";

bool has(const std::string& command)
{
    return testing::run({"sh", "-c", command + " >/dev/null 2>&1"}).status == 0;
}

// False, and a skip, where a program is missing.
bool can_run(const Lines& commands = {"command -v mpirun", "command -v otf2-print"})
{
    if (library.empty()) {
        testing::skip("no MPI");
        return false;
    }
    for (const std::string& command : commands) {
        if (has(command)) continue;
        testing::skip("cannot: " + command);
        return false;
    }
    return true;
}

// Two ranks of a program, recorded as the variables say ("CROSSTALK_TRACE=/tmp/x").
Lines two_ranks(const Lines& program, const Lines& variables)
{
    Lines words{"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "-x", "LD_PRELOAD=" + library};
    for (const std::string& variable : variables) {
        words.push_back("-x");
        words.push_back(variable);
    }
    words.insert(words.end(), program.begin(), program.end());
    return words;
}

// What MPI and Python themselves leak does not matter here.
testing::Outcome run(const Lines& words)
{
    Lines all{"env", "ASAN_OPTIONS=detect_leaks=0"};
    all.insert(all.end(), words.begin(), words.end());
    return testing::run(all);
}

testing::Outcome record(const Lines& program, const fs::path& trace)
{
    return run(two_ranks(program, {"CROSSTALK_TRACE=" + trace.string()}));
}

Lines lines_of(const std::string& text, const std::string& beginning = "")
{
    Lines found;
    std::istringstream in{text};
    for (std::string line; std::getline(in, line);)
        if (line.starts_with(beginning)) found.push_back(line);
    return found;
}

Lines said(const testing::Outcome& outcome)
{
    return lines_of(outcome.err, "libcrosstalk-mpi:");
}

// otf2-print's "ENTER <location> <time> Region: "<name>" <number>", by name.
Counts entered(const fs::path& trace, const std::string& location)
{
    const testing::Outcome printed = testing::run({"otf2-print", trace / "traces.otf2"});
    CHECK(printed.status == 0);
    CHECK(printed.err == "");
    Counts counts;
    for (const std::string& line : lines_of(printed.out, "ENTER ")) {
        std::istringstream words{line};
        std::string word, where, time;
        words >> word >> where >> time;
        const std::size_t begin = line.find('"') + 1;
        if (where == location) ++counts[line.substr(begin, line.find('"', begin) - begin)];
    }
    return counts;
}

// "MPI_Send 3" a line.
Counts reported(const std::string& text)
{
    Counts counts;
    std::istringstream in{text};
    std::string name;
    for (int count = 0; in >> name >> count;) counts[name] = count;
    return counts;
}

void check_sound(const fs::path& trace)
{
    const testing::Outcome info = testing::run({bin / "trace-info", trace / "traces.otf2", "--check"});
    CHECK_MESSAGE(info.status == 0, info.out, info.err);
    const testing::Scratch scratch;
    const testing::Outcome waits = testing::run({bin / "trace-waits", trace / "traces.otf2", "-o", scratch / "waits"});
    CHECK_MESSAGE(waits.status == 0, waits.err);
}

struct Recorded {
    explicit Recorded(const fs::path& trace) : reader{trace / "traces.otf2"}, listing{reader.archive()}
    {
        reader.read_by_location(listing);
    }
    const otf2::Archive& archive() const { return reader.archive(); }
    Lines of(const std::string& place) const { return listing.of(place); }

    otf2::Reader reader;
    otf2::Listing listing;
};

// Rank 0's.
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

// What a program printed that polled.
double polled(const testing::Outcome& outcome)
{
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const double seconds = std::stod(outcome.out);
    CHECK(seconds > 0.05);  // rank 1 is 20 times 20 ms late, and on a busy machine rank 0 as well
    return seconds;
}

long count(const Lines& lines, const std::string& line)
{
    return std::count(lines.begin(), lines.end(), line);
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
    CHECK(lines_of(printed, "MPI_REQUEST_CANCELLED ").size() == 2);  // one a rank
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
    CHECK(defined("REGION", "Paradigm: \"MPI\"") == static_cast<long>(lines_of(printed, "REGION ").size()));
    const Recorded recorded{scratch / "trace"};
    for (const otf2::Location& location : recorded.archive().locations) CHECK(location.clock_offsets.size() == 2);
    for (const otf2::Region& region : recorded.archive().regions)
        if (region.name == "MPI_Alltoallw") CHECK(region.role == otf2::RegionRole::all_to_all);
    // Begin right after the region's, end right before it.
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
    Counts barriers;  // by communicator, and of unknown ones
    for (std::size_t i = 0; i + 1 < zero.size(); ++i) {
        if (zero[i] != "enter MPI_Barrier") continue;
        const bool known = zero[i + 1] == "collective begins";
        ++barriers[known ? zero[i + 2].substr(0, zero[i + 2].find(" sent")) : "only time"];
    }
    // Nine ways and the groups merged again, one after the other, one beside another, and each rank's own.
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
        run(two_ranks({programs / "mpi-threads"},
                      {"CROSSTALK_TRACE=" + (scratch / "trace").string(), "CROSSTALK_TRACE_MEMORY=512KiB"}));
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(said(outcome).size() == 3);
    CHECK(outcome.err.find("CROSSTALK_TRACE_MEMORY has no room for all threads") != std::string::npos);
    CHECK(Recorded{scratch / "trace"}.archive().locations.size() == 4);
}

TEST_CASE("full memory goes to the file, which the archive shows as a region")
{
    if (!can_run()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        run(two_ranks({programs / "mpi-calls", "flood"},
                      {"CROSSTALK_TRACE=" + (scratch / "trace").string(), "CROSSTALK_TRACE_MEMORY=2MiB"}));
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    Counts counts = entered(scratch / "trace", "0");
    // 9.6 MB, of which six of eight chunks of 256 KiB hold a part each time.
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
    CHECK(said(outcome) ==
          Lines{"libcrosstalk-mpi: mpi-job has MPI wrappers of its own: nothing is recorded a second time"});
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
        const testing::Outcome outcome = run(two_ranks({programs / "mpi-calls", "all"}, variables));
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
    const testing::Outcome outcome = run(words);
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
        const testing::Outcome outcome = run(words);
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
    CHECK(said(outcome) ==
          Lines{"libcrosstalk-mpi: no trace of hello: it started MPI past the C interface, as Fortran does"});
}
