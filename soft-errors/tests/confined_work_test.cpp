// SPDX-License-Identifier: Apache-2.0
// Work in a child process that fails, crashes, hangs or writes.
#include "soft-errors/state/confined_work.hpp"

#include "base/error.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>

TEST_CASE("confined work hands on what it returns, however long")
{
    const std::string answer(3'000'000, 'x');
    CHECK(soft_errors::confined_work("w.h5", {}, [&] { return answer; }) == answer);
    CHECK(soft_errors::confined_work("w.h5", {}, [] { return std::string{}; }).empty());
}

TEST_CASE("what confined work throws is thrown with its text")
{
    CHECK_THROWS_WITH_AS(soft_errors::confined_work("w.h5", {}, []() -> std::string { base::fail("is odd"); }),
                         "is odd", base::Error);
    CHECK_THROWS_AS(soft_errors::confined_work("w.h5", {}, []() -> std::string { base::fail_usage("is odd"); }),
                    base::UsageError);
}

TEST_CASE("confined work that crashes or ends is one line")
{
    const auto crash = []() -> std::string {
        std::raise(SIGSEGV);
        return {};
    };
    CHECK_THROWS_WITH_AS(soft_errors::confined_work("w.h5", {}, crash),
                         "w.h5 crashed HDF5's library (Segmentation fault): damaged", base::Error);
    CHECK_THROWS_WITH_AS(soft_errors::confined_work("w.h5", {}, []() -> std::string { std::_Exit(1); }),
                         "w.h5 crashed HDF5's library: damaged", base::Error);
}

TEST_CASE("confined work that never ends does")
{
    const auto hang = []() -> std::string {
        while (std::clock() >= 0) {
        }
        return {};
    };
    CHECK_THROWS_WITH_AS(soft_errors::confined_work("w.h5", {.cpu_s = 1}, hang),
                         "w.h5 takes more than 1 s to read: it is damaged", base::Error);
}

TEST_CASE("confined work can write into no file")
{
    const testing::Scratch scratch;
    const auto write = [&] {
        std::ofstream file{scratch / "file"};
        file << "some" << std::flush;
        return std::string{file ? "written" : "not written"};
    };
    CHECK(soft_errors::confined_work("w.h5", {}, write) == "not written");
}
