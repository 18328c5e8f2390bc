// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/training/phase_clock.hpp"

#include <doctest/doctest.h>

#include <numeric>

using training::Phase;

namespace {

std::int64_t sum(const training::StepTimes& times)
{
    return std::accumulate(times.phase_ns.begin(), times.phase_ns.end(), std::int64_t{0});
}

struct Clock {
    otf2::Recorder recorder = otf2::Recorder::off();
    otf2::LocationRecorder& location = recorder.location("main");
    base::ControlPage page{};
    training::PhaseClock clock{recorder, location, &page};
};

}  // namespace

TEST_CASE("phases of a step add up to the step and time in no phase is other")
{
    Clock c;
    c.clock.begin_step(7, 1000);
    c.clock.enter(Phase::load, 1010);
    c.clock.enter(Phase::forward, 1025);
    c.clock.leave(1100);
    c.clock.enter(Phase::update, 1130);
    const training::StepTimes times = c.clock.end_step(1200);
    CHECK(times.step == 7);
    CHECK(times.begin_ns == 1000);
    CHECK(times.end_ns == 1200);
    CHECK(times.of(Phase::load) == 15);
    CHECK(times.of(Phase::forward) == 75);
    CHECK(times.of(Phase::update) == 70);
    CHECK(times.of(Phase::other) == 40);
    CHECK(sum(times) == 200);
}

TEST_CASE("a phase that is entered twice counts twice")
{
    Clock c;
    c.clock.begin_step(0, 0);
    c.clock.enter(Phase::backward, 5);
    c.clock.enter(Phase::wait_exchange, 10);
    c.clock.enter(Phase::backward, 20);
    const training::StepTimes times = c.clock.end_step(50);
    CHECK(times.of(Phase::backward) == 35);
    CHECK(times.of(Phase::wait_exchange) == 10);
    CHECK(sum(times) == 50);
}

TEST_CASE("a step without its control is the training's own time")
{
    Clock c;
    c.clock.begin_step(0, 0);
    c.clock.enter(Phase::control_settle, 10);
    c.clock.enter(Phase::control_delay, 30);
    c.clock.enter(Phase::control_settle, 60);
    c.clock.enter(Phase::forward, 100);
    CHECK(c.clock.end_step(250).without_control_ns() == 160);
}

TEST_CASE("a step without any phase is all other")
{
    Clock c;
    c.clock.begin_step(0, 3);
    CHECK(c.clock.end_step(10).of(Phase::other) == 7);
}

TEST_CASE("the next step begins with empty phases")
{
    Clock c;
    c.clock.begin_step(0, 0);
    c.clock.enter(Phase::load, 1);
    c.clock.end_step(9);
    c.clock.begin_step(1, 9);
    CHECK(c.clock.end_step(12).of(Phase::load) == 0);
}

TEST_CASE("the control page says what the training does")
{
    Clock c;
    c.clock.begin_step(5, 100);
    c.clock.enter(Phase::forward, 130);
    CHECK(c.page.step == 5);
    CHECK(c.page.phase == static_cast<std::uint32_t>(Phase::forward));
    CHECK(c.page.updated_ns == 130);
    c.clock.end_step(150);
    CHECK(c.page.phase == static_cast<std::uint32_t>(Phase::none));
}
