// SPDX-License-Identifier: Apache-2.0
// slot=auto: a slot holds about ten steps of the training, measured before any noise begins.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace noisegen {

// Ten steps, rounded up to a tenth of a second, at least 200 ms.
base::Nanoseconds slot_of(base::Nanoseconds step);

// The training's mean step, from the step counter of the run's control file on this host. Waits up to `patience` for
// the first steps, then measures for some seconds. None if no training moves the counter, or if the program is to stop.
std::optional<base::Nanoseconds> measure_step(const std::filesystem::path& run, const std::string& host,
                                              base::Nanoseconds patience);

// Steps of a training that began together as far as could be seen, and how long they took together.
struct SeenSteps {
    std::int64_t begin_ns = 0;  // of CLOCK_MONOTONIC, since an origin
    std::int64_t length_ns = 0;
    std::uint64_t count = 0;
};

// The steps that begin from the call on and end until then, seen every 2 ms; the origin and the end are times of
// CLOCK_MONOTONIC.
std::vector<SeenSteps> watch_steps(const std::filesystem::path& run, const std::string& host, std::int64_t origin_ns,
                                   std::int64_t until_ns);

}  // namespace noisegen
