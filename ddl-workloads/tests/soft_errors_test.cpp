// SPDX-License-Identifier: Apache-2.0
// Soft errors in blocks of weights: the values drawn, and the thresholds that find them.
#include "ddl-workloads/strategies/coded/soft_errors.hpp"

#include "base/error.hpp"
#include "ddl-workloads/strategies/coded/thresholds.hpp"

#include <doctest/doctest.h>

using ddl::ErrorSite;

TEST_CASE("soft errors alter as many values of a block by as much as the plan says")
{
    ddl::SoftErrors errors{ddl::parse_soft_errors("rate=1,density=10%,amplitude=2,sites=forward"), 0};
    ddl::Block block = ddl::Block::Zero(10, 20);
    CHECK(!errors.strike(ErrorSite::update, block));
    CHECK(block.isZero(0.0F));
    const double size = errors.strike(ErrorSite::forward, block).value();
    CHECK(size <= 2.0);
    CHECK(size == doctest::Approx(block.cwiseAbs().maxCoeff()));
    const auto altered = (block.array() != 0.0F).count();
    CHECK(altered <= 20);  // a value may be drawn twice
    CHECK(altered > 10);
}

TEST_CASE("soft errors occur at the rate given, the same for the same seed and rank")
{
    const ddl::SoftErrorPlan plan = ddl::parse_soft_errors("rate=0.1,kind=bit,seed=3");
    const auto count = [&](int rank) {
        ddl::SoftErrors errors{plan, rank};
        int errors_made = 0;
        for (int i = 0; i < 10'000; ++i) {
            ddl::Block block = ddl::Block::Ones(2, 2);
            if (errors.strike(ErrorSite::backward, block)) ++errors_made;
        }
        return errors_made;
    };
    CHECK(count(0) == count(0));
    CHECK(count(0) != count(1));
    CHECK(count(0) > 910);  // 1000 expected, with a standard deviation of 30
    CHECK(count(0) < 1090);
}

TEST_CASE("soft errors of a step are the same whatever steps came before, and others when it is repeated")
{
    const ddl::SoftErrorPlan plan = ddl::parse_soft_errors("rate=0.5,density=10%");
    const auto errors_in = [](ddl::SoftErrors& errors, std::int64_t step, int attempt) {
        ddl::Block block = ddl::Block::Zero(10, 20);
        errors.begin_step(step, attempt);
        for (int product = 0; product < 8; ++product) errors.strike(ErrorSite::forward, block);
        return block;
    };
    ddl::SoftErrors from_start{plan, 1};
    for (std::int64_t step = 0; step < 5; ++step) errors_in(from_start, step, 0);
    ddl::SoftErrors resumed{plan, 1};
    const ddl::Block sixth = errors_in(resumed, 5, 0);
    CHECK(!sixth.isZero(0.0F));
    CHECK(errors_in(from_start, 5, 0) == sixth);
    CHECK(errors_in(from_start, 5, 1) != sixth);
    ddl::SoftErrors other_rank{plan, 2};
    CHECK(errors_in(other_rank, 5, 0) != sixth);
}

TEST_CASE("soft errors that make no sense are refused")
{
    CHECK(ddl::parse_soft_errors("").rate == 0.0);
    CHECK(ddl::parse_soft_errors("rate=3e-4").density == doctest::Approx(0.005));
    for (const char* text : {"rate=2", "rate=0.1,density=0%", "rate=0.1,amplitude=0", "rate=0.1,sites=sideways",
                             "rate=0.1,kind=multiply", "rate=0.1,often=1", "density=1%"})
        CHECK_THROWS_AS(ddl::parse_soft_errors(text), base::UsageError);
}

TEST_CASE("a threshold is a thousand times the disagreement of the first products")
{
    ddl::Threshold automatic{std::nullopt};
    CHECK(automatic.value() == doctest::Approx(1e-3));
    for (int product = 0; product < 20; ++product) automatic.add(product == 7 ? 2e-7 : 1e-7);
    automatic.add(1e-4);  // no longer among the first ones
    CHECK(automatic.noise_floor() == doctest::Approx(2e-7));
    CHECK(automatic.value() == doctest::Approx(2e-4));
    CHECK(automatic.left_out() == 0);
    ddl::Threshold with_error{std::nullopt};  // from the third product on
    for (int product = 0; product < 20; ++product) with_error.add(product < 2 ? 1e-7 : 5e-4);
    CHECK(with_error.noise_floor() == doctest::Approx(1e-7));
    CHECK(with_error.left_out() == 18);
    CHECK(with_error.value() == doctest::Approx(1e-4));
    ddl::Threshold in_double{std::nullopt, ddl::CodePrecision::fp64};
    CHECK(in_double.value() == doctest::Approx(1e-9));
    for (int product = 0; product < 20; ++product) in_double.add(3e-16);
    CHECK(in_double.value() == doctest::Approx(3e-13));
    ddl::Threshold skipping{std::nullopt, ddl::CodePrecision::fp32, true};  // ranks drift apart
    for (int product = 0; product < 20; ++product) skipping.add(1e-7);
    CHECK(skipping.value() == doctest::Approx(1e-3));
    CHECK(skipping.drift_limit() == doctest::Approx(1e-5));
    ddl::Threshold given{1e-2};
    for (int product = 0; product < 30; ++product) given.add(1e-7);
    CHECK(given.value() == doctest::Approx(1e-2));
}
