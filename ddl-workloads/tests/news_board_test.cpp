// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/hooks/ends.hpp"
#include "ddl-workloads/instruments/phases.hpp"

#include <doctest/doctest.h>

#include <array>

TEST_CASE("the strongest request of any rank is what all agree on")
{
    using ddl::Stop;
    const auto agreed = [](std::vector<Stop> stops) {
        std::vector<ddl::EndNews> news;
        for (const Stop stop : stops) news.push_back({.request = stop});
        return ddl::agreed(news);
    };
    CHECK(agreed({}) == Stop::no);
    CHECK(agreed({Stop::no, Stop::no}) == Stop::no);
    CHECK(agreed({Stop::no, Stop::time_is_up}) == Stop::time_is_up);
    CHECK(agreed({Stop::signal, Stop::time_is_up}) == Stop::signal);
}

TEST_CASE("news of every slot are received one exchange later with all they said")
{
    struct Odd {
        std::array<char, 3> letters = {'-', '-', '-'};
    };
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    ddl::NewsBoard board{exchanges};
    auto odd = board.add<Odd>();
    auto times = board.add<ddl::StepTimes>();
    auto unused = board.add<double>();
    ddl::StepTimes last{.step = 2, .begin_ns = 10, .end_ns = 30};
    last.of(ddl::Phase::forward) = 20;
    times.post(last);
    board.exchange();
    CHECK(times.received().empty());
    odd.post({{'a', 'b', 'c'}});
    times.post({});
    board.exchange();
    REQUIRE(times.received().size() == 1);
    CHECK(times.received()[0].end_ns == 30);
    CHECK(times.received()[0].of(ddl::Phase::forward) == 20);
    CHECK(odd.received()[0].letters[0] == '-');
    CHECK(unused.received()[0] == 0.0);
    board.settle();
    CHECK(odd.received()[0].letters[2] == 'c');
    CHECK(times.received()[0].end_ns == 0);
    board.settle();
    CHECK(odd.received().empty());
}

TEST_CASE("news that wait for nobody are received in order, `lag` exchanges later")
{
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    ddl::NewsBoard board{exchanges};
    board.wait_less(3);
    auto numbers = board.add<int>();
    for (int number = 1; number <= 10; ++number) {
        numbers.post(number);
        board.exchange();
        CHECK(numbers.received() == (number <= 3 ? std::vector<int>{} : std::vector<int>{number - 3}));
    }
    for (const int number : {8, 9, 10}) {
        CHECK(board.settle());
        CHECK(numbers.received() == std::vector<int>{number});
    }
    CHECK_FALSE(board.settle());
    CHECK(numbers.received().empty());
}

TEST_CASE("a board without slots exchanges nothing")
{
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    ddl::NewsBoard board{exchanges};
    board.exchange();
    board.settle();
}
