// SPDX-License-Identifier: Apache-2.0
// The bounded queue between reader threads and the training.
#include "ddl-workloads/data/loading/ordered_queue.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace {

using Queue = ddl::OrderedQueue<std::int64_t>;

}  // namespace

TEST_CASE("items leave the queue in the order of their tickets")
{
    Queue queue{3};
    const auto first = queue.ticket();
    const auto second = queue.ticket();
    const auto third = queue.ticket();
    queue.put(*third, 30);
    queue.put(*second, 20);
    queue.put(*first, 10);
    CHECK(queue.depth() == 3);
    CHECK(queue.take() == 10);
    CHECK(queue.take() == 20);
    CHECK(queue.take() == 30);
    CHECK(queue.depth() == 0);
}

TEST_CASE("no more items are in the making or waiting than the queue has places")
{
    constexpr std::int64_t capacity = 3;
    constexpr std::int64_t items = 500;
    Queue queue{capacity};
    std::atomic<std::int64_t> taken = 0;
    std::atomic<std::int64_t> furthest_ahead = 0;
    const auto fill = [&] {
        while (const auto ticket = queue.ticket()) {
            // `taken` is incremented after take(), so there can seem to be one item more than the capacity.
            const std::int64_t ahead = *ticket + 1 - taken;
            for (std::int64_t seen = furthest_ahead; ahead > seen;)
                if (furthest_ahead.compare_exchange_weak(seen, ahead)) break;
            queue.put(*ticket, *ticket);
        }
    };
    {
        const std::jthread one{fill};
        const std::jthread two{fill};
        for (std::int64_t item = 0; item < items; ++item) {
            CHECK(queue.take() == item);
            ++taken;
            CHECK(queue.depth() <= capacity);
        }
        queue.close();
    }
    CHECK(furthest_ahead <= capacity + 1);
}

TEST_CASE("a full queue gives no ticket until an item is taken")
{
    Queue queue{1};
    queue.put(*queue.ticket(), 7);
    std::atomic<bool> got_another = false;
    std::jthread filler{[&] {
        const auto ticket = queue.ticket();
        got_another = true;
        queue.put(*ticket, 8);
    }};
    CHECK_FALSE(got_another);
    CHECK(queue.take() == 7);
    CHECK(queue.take() == 8);
    CHECK(got_another);
}

TEST_CASE("closing wakes all who wait")
{
    Queue queue{1};
    CHECK(queue.ticket().has_value());
    std::jthread filler{[&] { CHECK_FALSE(queue.ticket().has_value()); }};
    std::jthread taker{[&] { CHECK_THROWS_AS(queue.take(), base::Error); }};
    queue.close();
    filler.join();
    taker.join();
}

TEST_CASE("a failure reaches who takes and stays the first one")
{
    Queue queue{2};
    queue.put(*queue.ticket(), 1);
    queue.close(std::make_exception_ptr(base::Error{"the disk is gone"}));
    queue.close(std::make_exception_ptr(base::Error{"later"}));
    CHECK_THROWS_WITH_AS(queue.take(), "the disk is gone", base::Error);
    CHECK_THROWS_WITH_AS(queue.take(), "the disk is gone", base::Error);
}

TEST_CASE("a queue without a place is refused")
{
    CHECK_THROWS_AS(Queue{0}, base::UsageError);
}
