// SPDX-License-Identifier: Apache-2.0
// Work that crashes, hangs or fails in a child process.
#include "trace-tools/otf2/read/confined.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr otf2::Limits little{.stuck_s = 0.05};

// std::_Exit, because the child is a fork of the test program and must not run its exit handlers.
int ends_with(int code)
{
    return otf2::confined("test", little, [=]() -> int { std::_Exit(code); });
}

}  // namespace

TEST_CASE("confined work hands on its exit code")
{
    CHECK(ends_with(0) == 0);
    CHECK(ends_with(7) == 7);
}

TEST_CASE("confined work that crashes becomes one clear line")
{
    const auto crash = []() -> int {
        std::signal(SIGSEGV, SIG_DFL);  // replaces the sanitizer's handler
        std::raise(SIGSEGV);
        std::_Exit(0);
    };
    CHECK_THROWS_WITH_AS(otf2::confined("test", little, crash),
                         "OTF2's library crashed while it read (Segmentation fault): damaged", base::Error);
}

TEST_CASE("work that crashes when all is read does not blame the archive")
{
    const auto crash = []() -> int {
        otf2::now_reading("traces.otf2");
        otf2::reading_is_over();
        std::signal(SIGSEGV, SIG_DFL);  // replaces the sanitizer's handler
        std::raise(SIGSEGV);
        std::_Exit(0);
    };
    CHECK_THROWS_WITH_AS(otf2::confined("test", little, crash),
                         "the analysis crashed after reading (Segmentation fault)", base::Error);
}

TEST_CASE("the user's own limit of memory holds while an archive is read and afterwards")
{
    rlimit found{};
    REQUIRE(::getrlimit(RLIMIT_DATA, &found) == 0);
    const rlimit own{.rlim_cur = std::min(found.rlim_max, RLIM_INFINITY / 2), .rlim_max = found.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_DATA, &own) == 0);
    const auto soft_limit = [] {
        rlimit now{};
        return ::getrlimit(RLIMIT_DATA, &now) == 0 ? now.rlim_cur : 0;
    };
    const auto look = [&]() -> int {
        if (soft_limit() > own.rlim_cur) std::_Exit(1);
        otf2::reading_is_over();
        std::_Exit(soft_limit() == own.rlim_cur ? 0 : 2);
    };
    CHECK(otf2::confined("test", little, look) == 0);
    REQUIRE(::setrlimit(RLIMIT_DATA, &found) == 0);
}

TEST_CASE("confined work that makes no headway is ended")
{
    const auto hang = []() -> int {
        for (volatile bool forever = true; forever;) continue;
        std::_Exit(0);
    };
    CHECK_THROWS_WITH_AS(otf2::confined("test", little, hang),
                         "reading made no progress for 0.05 s of CPU time: damaged", base::Error);
}

TEST_CASE("confined work that gets on may take any time")
{
    const auto slow = []() -> int {
        const std::clock_t begin = std::clock();
        while (std::clock() - begin < CLOCKS_PER_SEC / 5) otf2::getting_on();
        std::_Exit(7);
    };
    CHECK(otf2::confined("test", little, slow) == 7);
}

TEST_CASE("a signal that asks for the end lets the work clean up, and ends the program")
{
    const testing::Scratch scratch;
    const pid_t program = ::fork();  // a child, since a request to terminate cannot be withdrawn
    if (program == 0) {
        const auto work = [&]() -> int {
            const base::ClaimedPart unfinished{scratch.path(), "unfinished"};
            ::kill(::getppid(), SIGTERM);
            while (true) otf2::getting_on();
        };
        try {
            otf2::confined("test", {}, work);
        } catch (...) {
            base::report_failure("test");
        }
        ::_exit(base::exit_failed);
    }
    int status = 0;
    REQUIRE(::waitpid(program, &status, 0) == program);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGTERM);
    CHECK(!std::filesystem::exists(scratch / "unfinished"));
}
