// SPDX-License-Identifier: Apache-2.0
// Bursts of a duty cycle: their times, and their exact mean.
#include "noisegen/execution/threads/bursts.hpp"

#include <doctest/doctest.h>

using noisegen::Bursts;
using std::chrono::milliseconds;

namespace {

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t far_ns = 1'000'000 * ms;

// Time on in 100 s of bursts that begin late by `late` and end with a step of length `step`.
double on_in_100s(Bursts& bursts, std::int64_t late, std::int64_t step)
{
    std::int64_t on = 0;
    for (std::int64_t now = 0; now < 100'000 * ms;) {
        const Bursts::Burst burst = bursts.next(now, far_ns);
        if (burst.begin >= 100'000 * ms) break;
        const std::int64_t began = std::max(now, burst.begin + late);
        now = began;
        while (now < burst.end) now += step;
        bursts.done(burst, now - began);
        on += now - began;
    }
    return static_cast<double>(on) * 1e-9;
}

}  // namespace

TEST_CASE("bursts begin at multiples of their period")
{
    Bursts bursts{base::Percent{30.0}, milliseconds{100}};
    for (std::int64_t i = 0; i < 5; ++i) {
        const Bursts::Burst burst = bursts.next(i == 0 ? 0 : i * 100 * ms - 1, far_ns);
        CHECK(burst.begin == i * 100 * ms);
        CHECK(burst.end == burst.begin + 30 * ms);
        bursts.done(burst, 30 * ms);
    }
}

TEST_CASE("a slot that begins within a burst has the rest of it, one that ends within cuts it")
{
    Bursts bursts{base::Percent{50.0}, milliseconds{100}};
    const Bursts::Burst rest = bursts.next(220 * ms, 330 * ms);
    CHECK(rest.begin == 220 * ms);
    CHECK(rest.end == 250 * ms);
    bursts.done(rest, 30 * ms);
    const Bursts::Burst cut = bursts.next(250 * ms, 330 * ms);
    CHECK(cut.begin == 300 * ms);
    CHECK(cut.end == 330 * ms);
    bursts.done(cut, 30 * ms);
    CHECK(bursts.next(330 * ms, 330 * ms).begin >= 330 * ms);
    // The next slot continues the same burst.
    CHECK(bursts.next(330 * ms, 500 * ms).end == 350 * ms);
}

TEST_CASE("the mean duty is exact though steps run over and starts are late")
{
    Bursts fine{base::Percent{30.0}, milliseconds{100}};
    CHECK(on_in_100s(fine, 0, ms) == doctest::Approx(30.0).epsilon(0.0005));
    Bursts coarse{base::Percent{30.0}, milliseconds{10}};  // steps are longer than two bursts
    CHECK(on_in_100s(coarse, 0, 7 * ms) == doctest::Approx(30.0).epsilon(0.001));
    Bursts late{base::Percent{5.0}, milliseconds{100}};
    CHECK(on_in_100s(late, ms / 10, ms / 10) == doctest::Approx(5.0).epsilon(0.001));
}

TEST_CASE("what was starved is not made up for in one go")
{
    Bursts bursts{base::Percent{50.0}, milliseconds{100}};
    const Bursts::Burst starved = bursts.next(0, far_ns);
    bursts.done(starved, 0);
    const Bursts::Burst next = bursts.next(60 * ms, far_ns);
    CHECK(next.begin == 100 * ms);
    CHECK(next.end == 155 * ms);
}

TEST_CASE("a duty of all the time is one burst")
{
    Bursts bursts{base::Percent{100.0}, milliseconds{100}};
    const Bursts::Burst burst = bursts.next(5 * ms, 700 * ms);
    CHECK(burst.begin == 5 * ms);
    CHECK(burst.end == 700 * ms);
    bursts.done(burst, 695 * ms);
    CHECK(bursts.next(700 * ms, 700 * ms).begin >= 700 * ms);
}
