// SPDX-License-Identifier: Apache-2.0
// Checks of schedules: whether a report on their runs is possible.
#include "noisegen/schedule/designed.hpp"

#include "noisegen/schedule/parser.hpp"

#include <doctest/doctest.h>

namespace {

using namespace std::chrono_literals;

std::string why(const std::string& text, base::Nanoseconds duration)
{
    noisegen::Schedule schedule = noisegen::parse_schedule(text);
    if (schedule.needs_slot()) schedule.set_slot(1s);
    return noisegen::why_no_report(schedule, noisegen::slot_table(schedule, 1, duration));
}

bool says(const std::string& text, base::Nanoseconds duration, const std::string& words)
{
    return why(text, duration).find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("every form of schedule that is long enough and sometimes quiet can be analysed")
{
    for (const char* text :
         {"memory.stream 2s; quiet 2s", "M2S2", "M2N2S2", "random(memory.stream=50%, quiet=50%; slot=1s)",
          "ramp(memory.stream; rate=0..4GiB/s; steps=5; hold=2s)",
          "rotation(memory.stream, io.write, placebo; slot=1s)", "rotation(memory.stream, placebo; slot=auto)",
          "factorial(memory.stream, io.write, placebo; slot=1s)"}) {
        CAPTURE(text);
        CHECK(why(text, 60s) == "");
    }
}

TEST_CASE("the refusal of a schedule that does not come around twice says how long that takes")
{
    CHECK(says("ramp(memory.stream; rate=0..4GiB/s; steps=8; hold=5s)", 79s, "--duration 80s"));
    CHECK(why("ramp(memory.stream; rate=0..4GiB/s; steps=8; hold=5s)", 80s) == "");
    CHECK(says("memory.stream 10s; quiet 10s", 30s, "--duration 40s"));
    CHECK(says("rotation(memory.stream, placebo; slot=1s)", 7s, "--duration 8s"));
    CHECK(says("factorial(memory.stream, io.write; slot=1s)", 7s, "--duration 8s"));
    CHECK(says("random(memory.stream=1%, quiet=99%; slot=1s)", 3s, "always quiet"));
    CHECK(why("random(memory.stream=50%, quiet=50%; slot=1s)", 3s) != "");
}

TEST_CASE("without quiet there is nothing to compare with")
{
    for (const char* text : {"M2N2", "ramp(memory.stream; rate=1GiB/s..4GiB/s; steps=4; hold=1s)",
                             "random(memory.stream=50%, io.write=50%)", "memory.stream 2s"}) {
        CAPTURE(text);
        CHECK(says(text, 60s, "never quiet"));
    }
    CHECK(says("quiet 2s", 60s, "nothing to measure"));
}

TEST_CASE("noise that never changes is constant")
{
    CHECK(noisegen::is_constant(noisegen::parse_schedule("memory.stream 2s")));
    CHECK_FALSE(noisegen::is_constant(noisegen::parse_schedule("memory.stream 2s; quiet 2s")));
    CHECK_FALSE(noisegen::is_constant(noisegen::parse_schedule("random(memory.stream=50%, quiet=50%; slot=1s)")));
}

TEST_CASE("missing controls are named")
{
    CHECK(noisegen::missing_controls(noisegen::parse_schedule("M2S2")) == "placebo and no control");
    CHECK(noisegen::missing_controls(noisegen::parse_schedule("rotation(memory.stream, placebo)")) == "control");
    CHECK(noisegen::missing_controls(noisegen::parse_schedule("rotation(placebo, control.delay, control.sham)")) == "");
}
