// slot=auto: ten steps of a training that publishes its steps.
#include "noisegen/schedule/slot_length.hpp"

#include "base/contract/control_file.hpp"
#include "base/system/clock.hpp"
#include "testing/testing.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace std::chrono_literals;

TEST_CASE("a slot holds ten steps rounded up to a tenth of a second")
{
    CHECK(noisegen::slot_of(45ms) == 500ms);
    CHECK(noisegen::slot_of(50ms) == 500ms);
    CHECK(noisegen::slot_of(51ms) == 600ms);
    CHECK(noisegen::slot_of(1ms) == 200ms);
    CHECK(noisegen::slot_of(2s) == 20s);
}

TEST_CASE("the step of a training is measured through the control file")
{
    const testing::Scratch scratch;
    base::ControlFile control = base::ControlFile::open(scratch.path(), "here");
    const std::int64_t begin_ns = base::now_ns();
    std::atomic<bool> stop = false;
    std::thread training{[&] {
        while (!stop) {
            ++control.page().step;
            std::this_thread::sleep_for(20ms);
        }
    }};
    const auto step = noisegen::measure_step(scratch.path(), "here", 20s);
    stop = true;
    training.join();
    const std::int64_t took_ns = base::now_ns() - begin_ns;
    const auto steps = static_cast<std::int64_t>(control.page().step.load());
    REQUIRE(step.has_value());
    // Sleep is as long as the machine pleases: what the steps really took counts.
    CHECK(step->count() > took_ns / steps / 2);
    CHECK(step->count() < took_ns / steps * 2);
}

TEST_CASE("without a training there is no step")
{
    const testing::Scratch scratch;
    CHECK(!noisegen::measure_step(scratch.path(), "here", 100ms).has_value());
}
