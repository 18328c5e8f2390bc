#include "ddl-workloads/train/steps/step_exchange.hpp"

#include <doctest/doctest.h>

TEST_CASE("the strongest wish of any rank is what all agree on")
{
    using ddl::Stop;
    const auto wish = [](Stop stop) { return ddl::StepNews{.wish = stop}; };
    CHECK(ddl::agreed({}) == Stop::no);
    CHECK(ddl::agreed({wish(Stop::no), wish(Stop::no)}) == Stop::no);
    CHECK(ddl::agreed({wish(Stop::no), wish(Stop::time_is_up)}) == Stop::time_is_up);
    CHECK(ddl::agreed({wish(Stop::signal), wish(Stop::time_is_up)}) == Stop::signal);
}

TEST_CASE("news arrive one call later with all they said")
{
    ddl::ExchangeThread exchanges{ddl::connector("self", {})};
    ddl::StepExchange exchange{exchanges};
    ddl::StepNews news{
        .wish = ddl::Stop::time_is_up, .complete_steps = 3, .last = {.step = 2, .begin_ns = 10, .end_ns = 30}};
    news.last.of(ddl::Phase::forward) = 20;
    CHECK(exchange.next(news).empty());
    const std::vector<ddl::StepNews> heard = exchange.next({});
    REQUIRE(heard.size() == 1);
    CHECK(heard[0].wish == ddl::Stop::time_is_up);
    CHECK(heard[0].last.end_ns == 30);
    CHECK(heard[0].last.of(ddl::Phase::forward) == 20);
    CHECK(exchange.settle().size() == 1);
    CHECK(exchange.settle().empty());
}
