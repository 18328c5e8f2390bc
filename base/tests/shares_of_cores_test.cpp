// SPDX-License-Identifier: Apache-2.0
// How the ranks of a job share the cores of a node when each keeps only so many, on machines that are made up.
#include "base/contract/job_cores.hpp"
#include "base/error.hpp"
#include "base/system/cpus.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <unistd.h>

namespace shares = base::job_cores;
using base::parse_cpus;

namespace {

// Cores with two CPUs each, numbered as Linux does: all first siblings, then all second ones.
std::vector<base::Core> cores_with_smt(int count)
{
    std::vector<base::Core> cores;
    for (int core = 0; core < count; ++core) cores.push_back({.cpus = {core, core + count}, .index = core});
    return cores;
}

// The CPUs that each rank keeps: "0,4 | 1,5".
std::string kept(const std::vector<std::string>& usable, std::size_t keep, const std::vector<base::Core>& cores)
{
    shares::CpusOfRanks of_ranks;
    for (std::size_t rank = 0; rank < usable.size(); ++rank)
        of_ranks[static_cast<pid_t>(10 + rank)] = parse_cpus(usable[rank]);
    std::string text;
    for (const auto& [rank, cpus] : shares::share(of_ranks, keep, cores))
        text += (text.empty() ? "" : " | ") + base::format_cpus(cpus);
    return text;
}

std::size_t most(const std::vector<std::string>& usable, const std::vector<base::Core>& cores)
{
    shares::CpusOfRanks of_ranks;
    for (std::size_t rank = 0; rank < usable.size(); ++rank)
        of_ranks[static_cast<pid_t>(10 + rank)] = parse_cpus(usable[rank]);
    return shares::most_to_keep(of_ranks, cores);
}

}  // namespace

TEST_CASE("ranks that may use all CPUs keep whole cores one after the other")
{
    const std::vector<std::string> two{"0-7", "0-7"};
    CHECK(kept(two, 1, cores_with_smt(4)) == "0,4 | 1,5");
    CHECK(kept(two, 2, cores_with_smt(4)) == "0-1,4-5 | 2-3,6-7");
    CHECK(most(two, cores_with_smt(4)) == 2);
    CHECK(most({"0-7", "0-7", "0-7"}, cores_with_smt(4)) == 1);
    CHECK(most({"0-255", "0-255", "0-255", "0-255"}, cores_with_smt(128)) == 32);
}

TEST_CASE("ranks that are bound keep cores of their own")
{
    CHECK(kept({"2-3,6-7", "0-1,4-5"}, 1, cores_with_smt(4)) == "2,6 | 0,4");
    CHECK(kept({"2-3", "0-1"}, 2, cores_with_smt(4)) == "2-3 | 0-1");  // a sibling is not theirs
    CHECK(most({"2-3", "0-1"}, cores_with_smt(4)) == 2);
    CHECK(most({"0,4", "1,5"}, cores_with_smt(4)) == 1);
}

TEST_CASE("a rank with few cores chooses before one with many")
{
    CHECK(kept({"0-7", "0,4"}, 1, cores_with_smt(4)) == "1,5 | 0,4");
    CHECK(kept({"0-7", "0-1,4-5"}, 2, cores_with_smt(4)) == "2-3,6-7 | 0-1,4-5");
    CHECK(most({"0-7", "0-1,4-5"}, cores_with_smt(4)) == 2);
}

TEST_CASE("ranks that are too many for the cores are refused by number, and can keep none")
{
    CHECK_THROWS_WITH_AS(kept({"0-1", "0,5"}, 2, cores_with_smt(4)),
                         "job.cores[keep=2]: process 11 of the job may use 0 cores that no other keeps (CPUs 0,5)",
                         base::UsageError);
    CHECK(most({"0,4", "0,4"}, cores_with_smt(4)) == 0);
    CHECK(most({}, cores_with_smt(4)) == 0);
}

TEST_CASE("the CPUs of a rank are those of all its threads, and ranks that have ended have none")
{
    CHECK(shares::usable_cpus({::getpid()}).at(::getpid()) == base::allowed_cpus());
    constexpr pid_t nobody = 1 << 30;
    CHECK(shares::usable_cpus({nobody}).empty());
}
