// SPDX-License-Identifier: Apache-2.0
// trace-record with unmodified programs; otf2-print shows what was recorded.
#include "base/programs/child.hpp"
#include "base/system/clock.hpp"
#include "testing/programs.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Lines = std::vector<std::string>;

namespace {

#ifdef CROSSTALK_PRELOAD_FIRST
const std::string first = CROSSTALK_PRELOAD_FIRST;  // the sanitizer's runtime, which must precede our library
#else
const std::string first;
#endif
const fs::path tests = testing::bin / "../tests";
const std::string record = testing::bin / "trace-record";
const std::string calls = tests / "mpi-calls";
const Lines two_ranks{"mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none"};

bool can_record()
{
    const bool can = fs::exists(record) && testing::run({"sh", "-c", "command -v mpirun otf2-print"}).status == 0;
    if (!can) testing::skip("no MPI, or no otf2-print");
    return can;
}

Lines operator+(Lines words, const Lines& more)
{
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

// Disables leak detection, since MPI leaks, and resets SIGINT, which a shell ignores in background processes.
Lines with_environment(const Lines& words)
{
    Lines all{"env", "--default-signal=INT,HUP", "ASAN_OPTIONS=detect_leaks=0"};
    if (!first.empty()) all.push_back("LD_PRELOAD=" + first);
    return all + words;
}

testing::Outcome run(const Lines& words)
{
    return testing::run(with_environment(words));
}

testing::Outcome run_in(const fs::path& folder, const Lines& words)
{
    return run(Lines{"env", "-C", folder} + words);
}

std::string text_of(const fs::path& file)
{
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

bool mentions(const std::string& text, const std::string& words)
{
    return text.find(words) != std::string::npos;
}

// Returns how often the location entered the region.
long entered(const fs::path& trace, const std::string& location, const std::string& region)
{
    const testing::Outcome printed = testing::run({"otf2-print", trace / "traces.otf2"});
    CHECK(printed.status == 0);
    std::istringstream in{printed.out};
    long count = 0;
    for (std::string line; std::getline(in, line);) {
        std::istringstream words{line};
        std::string word, where;
        words >> word >> where;
        count += word == "ENTER" && where == location && mentions(line, '"' + region + '"') ? 1 : 0;
    }
    return count;
}

void check_record(const fs::path& trace)
{
    const testing::Outcome info = testing::run({testing::bin / "trace-info", trace / "traces.otf2", "--check"});
    CHECK_MESSAGE(info.status == 0, info.out, info.err);
    const testing::Outcome waits = testing::run({testing::bin / "trace-waits", trace / "traces.otf2"});
    CHECK_MESSAGE(waits.status == 0, waits.err);
}

// Outcome of a program that gets a signal after it has created a file.
struct Signalled {
    int status = 0;  // exit code, or 128 + signal
    std::string errors;
};
Signalled signalled(const testing::Scratch& scratch, const Lines& words, int signal, const fs::path& ready)
{
    base::Child child{{.words = with_environment(words), .output = scratch / "out", .errors = scratch / "err"}};
    const std::int64_t deadline = base::now_ns() + 60'000'000'000;
    while (!fs::exists(ready) && base::now_ns() < deadline) base::sleep_until_ns(base::now_ns() + 20'000'000);
    REQUIRE_MESSAGE(fs::exists(ready), text_of(scratch / "err"));
    base::sleep_until_ns(base::now_ns() + 300'000'000);  // by then it is in the call that never returns
    child.signal(signal);
    const std::optional<int> status = child.wait(60s);
    REQUIRE(status);
    return {*status, text_of(scratch / "err")};
}

}  // namespace

TEST_CASE("a program is recorded behind mpirun, from any directory, into one that is named relative to it")
{
    if (!can_record()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        run_in(scratch.path(), two_ranks + Lines{record, "-o", "some/trace", "--", calls, "all"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(mentions(outcome.err, "libcrosstalk-mpi: recorded " + (scratch / "some/trace/traces.otf2").string()));
    CHECK(mentions(outcome.out, "MPI_Allreduce"));
    check_record(scratch / "some/trace");
}

TEST_CASE("a program is recorded with mpirun behind trace-record, too, and without --")
{
    if (!can_record()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome =
        run_in(scratch.path(), Lines{record, "-o", "trace", "--"} + two_ranks + Lines{calls, "all"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    check_record(scratch / "trace");
    const testing::Outcome without = run_in(scratch.path(), {record, "-o", "single", calls, "none"});
    REQUIRE_MESSAGE(without.status == 0, without.err);
    CHECK(entered(scratch / "single", "0", "MPI_Finalize") == 1);
}

TEST_CASE("without -o the directory is named after the program")
{
    if (!can_record()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = run_in(scratch.path(), two_ranks + Lines{record, "--", calls, "none"});
    REQUIRE_MESSAGE(outcome.status == 0, outcome.err);
    const fs::path made = fs::directory_iterator
    {
        scratch.path()
        } -> path();
    CHECK(made.filename().string().starts_with("crosstalk-mpi.mpi-calls."));
    check_record(made);
}

TEST_CASE("input, arguments and exit code are the program's")
{
    if (!can_record()) return;
    const testing::Scratch scratch;
    const std::string script = "read line; echo \"$line $1\"; exit 5";
    const testing::Outcome outcome =
        run({"sh", "-c", "echo hello | \"$0\" -o \"$1\" -- sh -c '" + script + "' sh --help=%d", record,
             scratch / "trace"});
    CHECK(outcome.status == 5);
    CHECK(outcome.out == "hello --help=%d\n");
    const testing::Outcome killed = run({record, "-o", scratch / "trace", "--", "sh", "-c", "kill -KILL $$; exit 0"});
    CHECK(killed.status == 128 + SIGKILL);
}

TEST_CASE("where nothing calls MPI one line says so, and the exit code stays")
{
    if (!can_record()) return;
    const testing::Scratch scratch;
    const std::string trace = scratch / "trace";
    const testing::Outcome outcome = run({record, "-o", trace, "--", "bash", "-c", "exit 7"});
    CHECK(outcome.status == 7);
    CHECK(mentions(outcome.err, ": bash has ended without calling MPI_Init\n"));
    const testing::Outcome ranks = run(two_ranks + Lines{record, "-o", trace, "--", "/bin/true"});
    CHECK(ranks.status == 0);
    CHECK(ranks.err == "libcrosstalk-mpi: no trace " + trace + ": true has ended without calling MPI_Init\n");
}

TEST_CASE("what stands in the way of a trace is said before the program runs, with what to do")
{
    if (!can_record()) return;
    const testing::Scratch scratch;
    fs::create_directory(scratch / "there");
    fs::create_directory(scratch / "left.tmp");
    std::ofstream{scratch / "program"} << "#!/bin/sh\ntouch ran\n";
    fs::permissions(scratch / "program", fs::perms::owner_all);
    fs::copy(record, scratch / "trace-record");
    struct Case {
        Lines words;
        int status;
        std::string says;
    };
    for (const Case& one :
         {Case{{record, "-o", "there", "--", "./program"}, 2, "is already there; give another path"},
          Case{{record, "-o", "left", "--", "./program"}, 2, "left.tmp belongs to a running or killed program"},
          Case{{record, "-o", "new", "--", "program"}, 2, "no program 'program' on PATH; did you mean ./program?"},
          Case{{record, "-o", "new", "--", "./missing"}, 2, "cannot run ./missing: No such file or directory"},
          Case{{record, "-o", "new"}, 2, "no program given; use: trace-record -o DIR -- ./program"},
          Case{{record, "--memory", "lots", "--", "./program"}, 2, "lots"},
          Case{{"./trace-record", "-o", "new", "--", "./program"}, 77, "libcrosstalk-mpi.so: build the target"}}) {
        const testing::Outcome outcome = run_in(scratch.path(), one.words);
        CHECK_MESSAGE(outcome.status == one.status, outcome.err);
        CHECK_MESSAGE(mentions(outcome.err, one.says), outcome.err);
        CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
    CHECK_FALSE(fs::exists(scratch / "ran"));
}

// mpi-calls wait: 50 times MPI_Allreduce, a barrier, then rank 0 receives a message that is never sent. A terminating
// mpirun may drop the output of its processes.
TEST_CASE("a job that SIGTERM ends leaves a sound trace of what it did until then")
{
    if (!can_record()) return;
    for (const bool outside : {false, true}) {
        const testing::Scratch scratch;
        const Lines recording{record, "-o", scratch / "trace", "--"};
        const Lines program{calls, "wait", scratch / "ready"};
        const Signalled end =
            signalled(scratch, outside ? recording + two_ranks + program : two_ranks + recording + program, SIGTERM,
                      scratch / "ready");
        CHECK(end.status != 0);
        CHECK_FALSE(fs::exists(scratch / "trace.tmp"));
        check_record(scratch / "trace");
        for (const char* rank : {"0", "1"}) {
            CHECK(entered(scratch / "trace", rank, "MPI_Allreduce") == 50);
            CHECK(entered(scratch / "trace", rank, "MPI_Barrier") == 1);
        }
        CHECK(entered(scratch / "trace", "0", "MPI_Recv") == 1);
    }
}

TEST_CASE("a process alone ends by the signal that it was sent")
{
    if (!can_record()) return;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
        const testing::Scratch scratch;
        const Signalled end =
            signalled(scratch, {record, "-o", scratch / "trace", "--", calls, "wait", scratch / "ready"}, signal,
                      scratch / "ready");
        CHECK(end.status == 128 + signal);
        CHECK(mentions(end.errors, "recorded " + (scratch / "trace/traces.otf2").string() + " until SIG"));
        CHECK(entered(scratch / "trace", "0", "MPI_Allreduce") == 50);
        check_record(scratch / "trace");
    }
}

TEST_CASE("a program that handles SIGTERM itself goes on as it would, and is recorded to its end")
{
    if (!can_record()) return;
    for (const char* when : {"before", "after"}) {  // the call of MPI_Init
        const testing::Scratch scratch;
        const Signalled end =
            signalled(scratch, {record, "-o", scratch / "trace", "--", calls, "handle", scratch / "ready", when},
                      SIGTERM, scratch / "ready");
        CHECK(end.status == 9);
        CHECK(entered(scratch / "trace", "0", "MPI_Finalize") == 1);
        CHECK(mentions(end.errors, "recorded "));
        CHECK_FALSE(mentions(end.errors, "until"));
    }
}

TEST_CASE("a child that the program forked dies of a signal as it would, and harms no trace")
{
    if (!can_record()) return;
    const testing::Scratch scratch;
    const testing::Outcome outcome = run({record, "-o", scratch / "trace", "--", calls, "fork"});
    CHECK_MESSAGE(outcome.status == 0, outcome.err);
    CHECK(mentions(outcome.out, "child: signal 15\n"));
    CHECK(entered(scratch / "trace", "0", "MPI_Finalize") == 1);
    check_record(scratch / "trace");
}
