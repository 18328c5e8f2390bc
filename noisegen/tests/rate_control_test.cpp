// The token bucket: exact on average, no burst after a stall.
#include "noisegen/rate_control.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

// What a thread does in `seconds` at 1000 units a second, a step of `amount` taking `step_ns`, each sleep late by
// `late_ns`.
double done_in(double seconds, double amount, std::int64_t step_ns, std::int64_t late_ns)
{
    noisegen::RateControl control{1000.0, 0};
    double done = 0.0;
    for (std::int64_t now = 0; static_cast<double>(now) < seconds * 1e9;) {
        now += step_ns;
        done += amount;
        const std::int64_t due = control.after(amount, now);
        if (due > now) now = due + late_ns;
    }
    return done;
}

}  // namespace

TEST_CASE("a rate is met whatever the length of a step")
{
    CHECK(done_in(10.0, 1.0, 100'000, 0) == doctest::Approx(10000).epsilon(0.001));
    CHECK(done_in(10.0, 7.0, 3'000'000, 0) == doctest::Approx(10000).epsilon(0.001));
}

TEST_CASE("sleeping too long is made up for")
{
    CHECK(done_in(10.0, 1.0, 100'000, 60'000) == doctest::Approx(10000).epsilon(0.001));
}

TEST_CASE("work that is too slow goes on without a pause")
{
    CHECK(done_in(10.0, 1.0, 2'000'000, 0) == doctest::Approx(5000).epsilon(0.001));
}

TEST_CASE("after a stall at most ten milliseconds are caught up")
{
    noisegen::RateControl control{1000.0, 0};
    const std::int64_t stall = 5'000'000'000;
    double burst = 0.0;
    for (std::int64_t due = 0; due <= stall; burst += 1.0) due = control.after(1.0, stall);
    CHECK(burst <= 12.0);
    CHECK(burst >= 10.0);
}

TEST_CASE("many short phases keep the rate of one long one")
{
    constexpr std::int64_t phase_ns = 100'000'000;
    double debt = 0.0;
    double done = 0.0;
    for (int phase = 0; phase < 1000; ++phase) {  // 100 s in all, a step is worth 250 ms
        noisegen::RateControl control{4.0, 0, debt};
        std::int64_t now = std::min(control.due(), phase_ns);
        while (now < phase_ns) {
            done += 1.0;
            now = std::min(control.after(1.0, now + 1'000'000), phase_ns);
        }
        debt = control.debt_ns(phase_ns);
    }
    CHECK(done == doctest::Approx(400).epsilon(0.01));
}
