// SPDX-License-Identifier: Apache-2.0
// Silence around libraries that print to stderr.
#include "base/system/environment.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

// The stderr of a child process that calls `does`.
template <class Does>
std::string stderr_of(Does does)
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        does();
        std::fflush(stderr);
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string text;
    std::array<char, 256> some{};
    for (ssize_t got = 0; (got = ::read(ends[0], some.data(), some.size())) > 0;)
        text.append(some.data(), static_cast<std::size_t>(got));
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return text;
}

}  // namespace

TEST_CASE("what a library prints is lost, and nothing else")
{
    CHECK(stderr_of([] {
              std::fputs("before\n", stderr);
              {
                  const base::Silence silence;
                  std::fputs("library\n", stderr);
                  static_cast<void>(::write(STDERR_FILENO, "library\n", 8));
              }
              std::fputs("after\n", stderr);
          }) == "before\nafter\n");
}

TEST_CASE("a library that ends the program is heard")
{
    CHECK(stderr_of([] {
              const base::Silence silence;
              std::fputs("library: something\nlibrary: cannot open a file\n", stderr);
              std::exit(1);
          }) == "library: cannot open a file\n");
}

TEST_CASE("where stderr is closed it stays closed")
{
    CHECK(stderr_of([] {
              const int kept = ::dup(STDERR_FILENO);
              ::close(STDERR_FILENO);
              {
                  const base::Silence silence;
              }
              const char* const said = ::write(STDERR_FILENO, "x", 1) < 0 ? "closed" : "open";
              ::dup2(kept, STDERR_FILENO);
              std::fputs(said, stderr);
          }) == "closed");
}
