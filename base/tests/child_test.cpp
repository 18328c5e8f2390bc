// SPDX-License-Identifier: Apache-2.0
#include "base/programs/child.hpp"

#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <system_error>

using base::Child;
using testing::Scratch;

TEST_CASE("a child's exit code and both outputs come back, from the folder it was started in")
{
    const Scratch scratch;
    Child child{{.words = {"sh", "-c", "pwd; echo wrong >&2; exit 7"},
                 .folder = scratch.path(),
                 .output = scratch / "out",
                 .errors = scratch / "err"}};
    CHECK(child.wait() == 7);
    CHECK(base::read_whole(scratch / "out") == scratch.path().string() + "\n");
    CHECK(base::read_whole(scratch / "err") == "wrong\n");
}

TEST_CASE("both outputs of a child can go to one file, in their order")
{
    const Scratch scratch;
    Child child{
        {.words = {"sh", "-c", "echo 1; echo 2 >&2; echo 3"}, .output = scratch / "log", .errors = scratch / "log"}};
    CHECK(child.wait() == 0);
    CHECK(base::read_whole(scratch / "log") == "1\n2\n3\n");
}

TEST_CASE("a child's standard input is empty")
{
    CHECK(Child{{.words = {"sh", "-c", "read line && exit 1; exit 0"}}}.wait() == 0);
}

TEST_CASE("a child that a signal ends has 128 and the signal as its code")
{
    Child child{{.words = {"sleep", "60"}}};
    child.signal(SIGTERM);
    CHECK(child.wait() == 128 + SIGTERM);
    CHECK(child.pid() == 0);
}

TEST_CASE("waiting for a child ends with one's patience, and the child is killed with its owner")
{
    pid_t pid = 0;
    {
        Child child{{.words = {"sleep", "60"}}};
        pid = child.pid();
        CHECK_FALSE(child.wait(std::chrono::milliseconds{20}));
        CHECK(::kill(pid, 0) == 0);
    }
    CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("a program that is not there throws")
{
    CHECK_THROWS_AS(Child({.words = {"no-such-program-of-anyone"}}), std::system_error);
}
