// SPDX-License-Identifier: Apache-2.0
// Ranks of one start find each other, whatever files earlier starts left.
#include "ddl-workloads/transports/roll_call.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <latch>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using ddl::RollCall;
using testing::Scratch;

namespace {

// The names that the ranks agree on. The ranks arrive in this order, some milliseconds apart.
std::vector<std::string> names(const std::filesystem::path& directory, const std::vector<int>& order)
{
    std::vector<std::string> found(order.size());
    std::latch all{static_cast<std::ptrdiff_t>(order.size())};
    std::vector<std::jthread> ranks;
    for (const int rank : order) {
        ranks.emplace_back([&, rank] {
            const RollCall present{directory, rank, static_cast<int>(order.size()), 30s};
            found[static_cast<std::size_t>(rank)] = present.name();
            all.arrive_and_wait();
        });
        std::this_thread::sleep_for(15ms);
    }
    ranks.clear();
    return found;
}

}  // namespace

TEST_CASE("all ranks of a start agree on a name that no other start has, and leave nothing")
{
    const Scratch scratch;
    std::set<std::string> starts;
    for (const std::vector<int>& order : {std::vector{0, 1, 2}, std::vector{2, 1, 0}, std::vector{1, 0, 2}}) {
        const std::vector<std::string> agreed = names(scratch / "meet", order);
        CHECK(std::set<std::string>{agreed.begin(), agreed.end()}.size() == 1);
        starts.insert(agreed.front());
        CHECK_FALSE(std::filesystem::exists(scratch / "meet"));
    }
    CHECK(starts.size() == 3);
}

TEST_CASE("what a killed start left is in the way of no other")
{
    for (const std::vector<int>& order : {std::vector{0, 1, 2}, std::vector{2, 1, 0}, std::vector{1, 2, 0}}) {
        const Scratch scratch;
        const std::filesystem::path meet = scratch / "meet";
        std::filesystem::create_directories(meet / "00000000deadbeef");
        base::write_whole(meet / "00000000deadbeef/key", "an address");
        for (const char* file : {"number.0", "number.1", "number.2", "agreed.1", "agreed.2", "begun"})
            base::write_whole(meet / file, "00000000deadbeef");
        base::write_whole(meet / "numbers", "00000000deadbeef\n00000000deadbeef\n00000000deadbeef\n");
        const std::vector<std::string> agreed = names(meet, order);
        CHECK(std::set<std::string>{agreed.begin(), agreed.end()}.size() == 1);
        CHECK(agreed.front() != "00000000deadbeef");
        CHECK_FALSE(std::filesystem::exists(meet));
    }
}

TEST_CASE("a rank that waits in vain says so and takes its files away")
{
    const Scratch scratch;
    for (const int rank : {0, 1}) {
        CHECK_THROWS_WITH_AS((RollCall{scratch / "meet", rank, 2, 50ms}), "not all ranks have arrived", base::Error);
        CHECK_FALSE(std::filesystem::exists(scratch / "meet"));
    }
}
