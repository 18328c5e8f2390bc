// SPDX-License-Identifier: Apache-2.0
// Tests of clock, files, run record, random numbers and stopping.
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <csignal>
#include <fstream>
#include <numeric>
#include <thread>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace base;

TEST_CASE("the clock moves forward and knows its identity")
{
    const std::int64_t before = now_ns();
    sleep_until_ns(before + 1'000'000);
    CHECK(now_ns() >= before + 1'000'000);
    CHECK(clock_identity() == clock_identity());
    CHECK_FALSE(clock_identity().boot_id.empty());
    ClockIdentity shifted = clock_identity();
    shifted.time_namespace += 1;
    CHECK_FALSE(shifted == clock_identity());
}

TEST_CASE("a part of a run is claimed once and never overwritten")
{
    const testing::Scratch scratch;
    ClaimedPart part{scratch / "run", "noise/node1.0"};
    std::ofstream{part.path() / "noise.csv"} << "rows";
    CHECK_THROWS_AS((ClaimedPart{scratch / "run", "noise/node1.0"}), UsageError);
    CHECK(read_whole(part.path() / "noise.csv") == "rows");
    CHECK_NOTHROW((ClaimedPart{scratch / "run", "noise/node1.1"}));
    std::filesystem::create_directories(scratch / "other");
    std::filesystem::create_directory(scratch / "linked");
    std::filesystem::create_directory_symlink(scratch / "other", scratch / "linked/noise");
    CHECK_THROWS_AS((ClaimedPart{scratch / "linked", "noise/node1.0"}), UsageError);
    CHECK(std::filesystem::is_empty(scratch / "other"));
}

TEST_CASE("a part is kept only if something was made of it")
{
    const testing::Scratch scratch;
    for (const bool kept : {false, true}) {
        {
            ClaimedPart part{scratch / "run", "train"};
            std::ofstream{part.path() / "steps.csv"} << "rows";
            if (kept) part.keep();
        }
        CHECK(std::filesystem::exists(scratch / "run" / "train" / "steps.csv") == kept);
    }
}

TEST_CASE("directories that were made for nothing are taken away, others stay")
{
    const testing::Scratch scratch;
    for (const bool used : {false, true}) {
        {
            const MadeDirectories made{scratch / "a/b/c/"};
            CHECK(std::filesystem::is_directory(scratch / "a/b/c"));
            const MadeDirectories there_already{scratch / "a/b"};
            if (used) std::ofstream{scratch / "a/b/file"} << "rows";
        }
        CHECK(std::filesystem::exists(scratch / "a/b") == used);
        CHECK_FALSE(std::filesystem::exists(scratch / "a/b/c"));
    }
    CHECK(std::filesystem::exists(scratch.path()));
}

TEST_CASE("a whole file replaces the old one or leaves it")
{
    const testing::Scratch scratch;
    write_whole(scratch / "run.json", "one");
    write_whole(scratch / "run.json", "two");
    CHECK(read_whole(scratch / "run.json") == "two");
    CHECK_THROWS(write_whole(scratch / "no" / "such" / "folder", "three"));
    CHECK_THROWS_AS(read_whole(scratch / "missing"), Error);
    CHECK_THROWS_AS(read_whole(scratch.path()), Error);
    CHECK(std::distance(std::filesystem::directory_iterator{scratch.path()}, {}) == 1);
}

TEST_CASE("a link that others planted beside a file is not followed")
{
    const testing::Scratch scratch;
    write_whole(scratch / "precious", "mine");
    const std::filesystem::path file = scratch / "run.json";
    std::filesystem::create_symlink(scratch / "precious", file.string() + ".tmp" + std::to_string(::getpid()));
    std::filesystem::create_symlink(scratch / "precious", file.string() + ".tmp");
    std::filesystem::create_symlink(scratch / "precious", file);
    write_whole(file, "one");
    CHECK(read_whole(scratch / "precious") == "mine");
    CHECK(read_whole(file) == "one");
    CHECK_FALSE(std::filesystem::is_symlink(file));
}

TEST_CASE("a pipe is read until its writer ends, and what never ends is refused")
{
    const testing::Scratch scratch;
    const std::string pipe = scratch / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK_THROWS_WITH_AS(read_whole(pipe), ("no process writes to the pipe " + pipe).c_str(), Error);
    CHECK_THROWS_WITH_AS(read_whole("/dev/zero"), "/dev/zero is not a regular file", Error);
    const std::string content(1'000'000, 'x');
    std::jthread writer{[&] { std::ofstream{pipe} << content; }};
    CHECK(read_whole(pipe) == content);
}

TEST_CASE("the run record says who where when and how")
{
    std::string program = "noisegen";
    std::string word = "--seed=7";
    char* arguments[] = {program.data(), word.data()};
    const auto record = run_record("noisegen", 2, arguments);
    CHECK(record["command_line"][1] == "--seed=7");
    for (const char* member :
         {"format", "host", "started", "clock_identity", "kernel", "cpu_model", "git_revision", "version"})
        CHECK(record.contains(member));
}

TEST_CASE("the same seed gives the same order everywhere")
{
    Random random{42};
    std::vector<int> items(8);
    std::iota(items.begin(), items.end(), 0);
    shuffle(random, std::span{items});
    CHECK(items == std::vector<int>{7, 0, 5, 1, 2, 4, 3, 6});
    std::vector<int> counts(3);
    for (int i = 0; i < 30000; ++i) ++counts[draw_below(random, 3)];
    for (const int count : counts) CHECK(count == doctest::Approx(10000).epsilon(0.05));
}

TEST_CASE("a failure is one line and its kind decides the exit code")
{
    const auto code = [](auto throwing) {
        try {
            throwing();
        } catch (...) {
            return report_failure("program");
        }
        return -1;
    };
    CHECK(code([] { fail("a"); }) == 1);
    CHECK(code([] { fail_usage("a"); }) == 2);
    CHECK(code([] { unavailable("a"); }) == 77);
    CHECK(code([] { check_errno(-1, "open ", "x"); }) == 1);
    CHECK(code([] { throw 7; }) == 1);
}

TEST_CASE("a signal asks and the work looks")
{
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        stop_on_signals();
        const bool before = stop_requested();
        raise(SIGTERM);
        _exit(!before && stop_requested() && stop_signal() == SIGTERM ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
