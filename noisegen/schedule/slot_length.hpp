// SPDX-License-Identifier: Apache-2.0
// slot=auto: a slot is about ten steps of the training long, measured before any noise begins.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace noisegen {

// A training's mean step time, and how many steps after reading a request it makes a control's delay.
struct MeasuredStep {
    base::Nanoseconds length{};
    std::int64_t ahead = 1;
};

// Ten steps, rounded up to a multiple of 0.1 s, at least 200 ms. One step more for each step beyond the first by which
// a control acts late, so that its slots hold as many controlled steps in every training.
base::Nanoseconds slot_of(const MeasuredStep& step);

// From the step counter in the run's control file on this host. Waits up to `patience` for the first steps, then
// measures for some seconds. None if no training advances the counter, or if the program was asked to stop.
std::optional<MeasuredStep> measure_step(const std::filesystem::path& run, const std::string& host,
                                         base::Nanoseconds patience);

// Steps of a training between two observations of its counter, and the time they took together.
struct SeenSteps {
    std::int64_t begin_ns = 0;  // CLOCK_MONOTONIC, relative to an origin
    std::int64_t length_ns = 0;
    std::uint64_t count = 0;
};

// Steps that begin after the call and end before `until_ns`, observed every 2 ms. `origin_ns` and `until_ns` are
// CLOCK_MONOTONIC times.
std::vector<SeenSteps> watch_steps(const std::filesystem::path& run, const std::string& host, std::int64_t origin_ns,
                                   std::int64_t until_ns);

}  // namespace noisegen
