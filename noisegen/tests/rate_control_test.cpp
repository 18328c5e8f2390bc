// SPDX-License-Identifier: Apache-2.0
// The token bucket: exact on average, without bursts after a stall; random arrivals.
#include "noisegen/execution/threads/rate_control.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace {

// Units that a thread does in `seconds` at 1000 units per second; a step of `amount` takes `step_ns`, and each sleep
// ends `late_ns` late.
double done_in(double seconds, double amount, std::int64_t step_ns, std::int64_t late_ns)
{
    noisegen::RateControl control{1000.0};
    control.begin(0);
    double done = 0.0;
    for (std::int64_t now = 0; static_cast<double>(now) < seconds * 1e9;) {
        control.before(now);
        now += step_ns;
        done += amount;
        const std::int64_t due = control.after(amount);
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

TEST_CASE("work that is too slow continues without a pause")
{
    CHECK(done_in(10.0, 1.0, 2'000'000, 0) == doctest::Approx(5000).epsilon(0.001));
}

TEST_CASE("after a stall the rate is a little higher until a tenth of a second is caught up")
{
    noisegen::RateControl control{1000.0};
    control.begin(0);
    const std::int64_t stall = 5'000'000'000;
    std::int64_t now = stall;
    double done = 0.0;
    double most = 0.0;
    for (int window = 1; window <= 100; ++window) {  // windows of 100 ms
        const double before = done;
        for (; now < stall + window * 100'000'000LL; done += 1.0) {
            control.before(now);
            now = std::max(now, control.after(1.0));
        }
        most = std::max(most, done - before);
    }
    CHECK(most <= 106.0);
    CHECK(done == doctest::Approx(10'000 + 100 + 2).epsilon(0.0005));
}

TEST_CASE("stalls of a scheduler's turn cost neither the mean nor a window of a tenth of a second")
{
    // In each tenth of a second another thread has the CPU for 8 ms, beginning after 40 ms. Each window still holds 100
    // units, including those missed in its middle.
    constexpr std::int64_t window_ns = 100'000'000;
    noisegen::RateControl control{1000.0};
    control.begin(0);
    std::vector<double> windows(100);
    for (std::int64_t now = 0; now < 100 * window_ns;) {
        control.before(now);
        windows[static_cast<std::size_t>(now / window_ns)] += 1.0;
        now = std::max(now + 100'000, control.after(1.0));
        const std::int64_t in_window = now % window_ns;
        if (in_window >= 40'000'000 && in_window < 48'000'000) now += 48'000'000 - in_window;
    }
    double sum = 0.0;
    for (const double done : windows) {
        sum += done;
        CHECK(done == doctest::Approx(100.0).epsilon(0.0101));  // one unit may fall on either side of a border
    }
    CHECK(sum == doctest::Approx(10'000.0).epsilon(0.0005));
}

TEST_CASE("nothing is made up for at once after a stall of a second")
{
    noisegen::RateControl control{200.0};  // blocks of a MiB: 20 in a tenth of a second
    control.begin(0);
    std::int64_t now = 1'000'000'000;
    std::vector<double> windows(10);
    for (const std::int64_t start = now; now < start + 1'000'000'000;) {
        control.before(now);
        windows[static_cast<std::size_t>((now - start) / 100'000'000)] += 1.0;
        now = std::max(now, control.after(1.0));
    }
    for (const double done : windows) CHECK(done <= 21.0);  // 1.5 % above the rate is 20.3
}

TEST_CASE("many short slots keep the rate of one long one")
{
    constexpr std::int64_t slot_ns = 100'000'000;
    noisegen::RateControl control{4.0};
    double done = 0.0;
    for (std::int64_t slot = 0; slot < 1000; ++slot) {  // 100 s in total; a step is worth 250 ms
        const std::int64_t end = (slot + 1) * slot_ns;
        control.begin(slot * slot_ns);
        std::int64_t now = std::min(control.due(), end);
        while (now < end) {
            done += 1.0;
            control.before(now);
            now = std::min(std::max(now + 1'000'000, control.after(1.0)), end);
        }
        control.end(end);
    }
    CHECK(done == doctest::Approx(400).epsilon(0.01));
}

TEST_CASE("poisson arrivals keep the rate and scatter as a Poisson process does")
{
    noisegen::RateControl control{1000.0, noisegen::RateControl::Arrival::poisson, 7};
    control.begin(0);
    constexpr std::int64_t window_ns = 100'000'000;
    std::vector<double> counts(1000);
    for (std::int64_t now = 0; now < window_ns * 1000; now = std::max(now, control.after(1.0))) {
        control.before(now);
        ++counts[static_cast<std::size_t>(now / window_ns)];
    }
    double sum = 0.0;
    double squares = 0.0;
    for (const double count : counts) {
        sum += count;
        squares += (count - 100.0) * (count - 100.0);
    }
    CHECK(sum / 1000.0 == doctest::Approx(100.0).epsilon(0.01));  // the standard error is 0.3 %
    CHECK(squares / 1000.0 == doctest::Approx(100.0).epsilon(0.2));
    noisegen::RateControl again{1000.0, noisegen::RateControl::Arrival::poisson, 7};
    noisegen::RateControl same{1000.0, noisegen::RateControl::Arrival::poisson, 7};
    CHECK(again.after(1.0) == same.after(1.0));
}
