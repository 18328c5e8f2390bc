// SPDX-License-Identifier: Apache-2.0
// Chunks of work that are handed to another thread.
#include "base/system/conveyor.hpp"

#include "base/error.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

using Numbers = std::vector<int>;

TEST_CASE("all that is put on a conveyor arrives in order, on another thread")
{
    Numbers arrived;
    std::thread::id where;
    base::Conveyor<Numbers> conveyor{[&](const Numbers& numbers) {
        arrived.insert(arrived.end(), numbers.begin(), numbers.end());
        where = std::this_thread::get_id();
    }};
    for (int i = 0; i < 1000; ++i) {
        CHECK(conveyor.chunk().size() == static_cast<std::size_t>(i % 7));
        conveyor.chunk().push_back(i);
        if (i % 7 == 6) conveyor.pass_on();
    }
    conveyor.finish();
    Numbers all(1000);
    std::iota(all.begin(), all.end(), 0);
    CHECK(arrived == all);
    CHECK(where != std::this_thread::get_id());
}

TEST_CASE("between chunks the other thread of a conveyor does something else, as long as there is any")
{
    std::atomic<int> done = 0;
    Numbers arrived;
    base::Conveyor<Numbers> conveyor{
        [&](const Numbers& numbers) { arrived.insert(arrived.end(), numbers.begin(), numbers.end()); },
        [&] { return done < 3 && ++done < 3; }};
    while (done < 3) std::this_thread::yield();
    for (int i = 0; i < 10; ++i) {
        conveyor.chunk().push_back(i);
        conveyor.pass_on();
    }
    conveyor.finish();
    CHECK(done == 3);
    CHECK(arrived == Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("what the work at a conveyor throws comes out where chunks are put on it")
{
    base::Conveyor<Numbers> conveyor{[](const Numbers&) { throw base::UsageError{"not these"}; }};
    const auto put_on = [&] {
        for (int i = 0; i < 10; ++i) conveyor.pass_on();
    };
    CHECK_THROWS_WITH_AS(put_on(), "not these", base::UsageError);
    CHECK_THROWS_WITH_AS(conveyor.finish(), "not these", base::UsageError);
}

TEST_CASE("a conveyor that is given up ends with what was passed on")
{
    int chunks = 0;
    {
        base::Conveyor<Numbers> conveyor{[&](const Numbers&) { ++chunks; }};
        conveyor.pass_on();
        conveyor.pass_on();
        conveyor.chunk().push_back(1);
    }
    CHECK(chunks == 2);
}
