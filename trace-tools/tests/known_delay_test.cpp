// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/training/known_delay.hpp"

#include <doctest/doctest.h>

#include <vector>

using base::ControlRequest;
using training::Phase;

namespace {

constexpr std::int64_t delay_ns = 3'000'000;

// Runs a step that contains only the control. The barrier fails from its `fails`-th call on.
struct ControlledStep {
    std::vector<std::int64_t> barriers_ns;  // entry times
    bool together = false;
    training::StepTimes times;

    ControlledStep(ControlRequest request, int rank, std::size_t fails = 100)
    {
        otf2::Recorder recorder = otf2::Recorder::off();
        training::PhaseClock clock{recorder, recorder.location("main"), nullptr};
        clock.begin_step(0);
        together = training::make_known_delay(request, delay_ns, rank, clock, [&] {
            barriers_ns.push_back(base::now_ns());
            return barriers_ns.size() < fails;
        });
        times = clock.end_step();
    }
};

}  // namespace

TEST_CASE("a sham has all barriers and rests of a delay, and no delay")
{
    for (const ControlRequest request : {ControlRequest::delay, ControlRequest::sham}) {
        const ControlledStep step{request, 0};
        CHECK(step.together);
        REQUIRE(step.barriers_ns.size() == 3);
        const std::int64_t made_ns = request == ControlRequest::delay ? delay_ns : 0;
        CHECK(step.barriers_ns[1] - step.barriers_ns[0] >= base::control_rest_ns + made_ns);
        CHECK(step.barriers_ns[2] - step.barriers_ns[0] >= base::control_settle_ns + made_ns);
        CHECK((step.times.of(Phase::control_delay) >= delay_ns) == (request == ControlRequest::delay));
        CHECK(step.times.of(Phase::control_settle) >= base::control_settle_ns);
    }
}

TEST_CASE("ranks other than 0 wait for its delay in barriers")
{
    const ControlledStep step{ControlRequest::delay, 1};
    CHECK(step.together);
    CHECK(step.barriers_ns.size() == 3);
    CHECK(step.times.of(Phase::control_delay) == 0);
}

TEST_CASE("a rank that does not come to a barrier ends the controlled part")
{
    const ControlledStep step{ControlRequest::delay, 0, 1};
    CHECK(!step.together);
    CHECK(step.barriers_ns.size() == 1);
    CHECK(step.times.of(Phase::control_delay) == 0);
}

TEST_CASE("a step of which nothing is requested has no controlled part")
{
    const ControlledStep step{ControlRequest::none, 0};
    CHECK(step.barriers_ns.empty());
    CHECK(step.times.of(Phase::control_settle) == 0);
}
