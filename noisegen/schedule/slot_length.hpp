// slot=auto: a slot holds about ten steps of the training, measured before any noise begins.
#pragma once

#include "base/units.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace noisegen {

// Ten steps, rounded up to a tenth of a second, at least 200 ms.
base::Nanoseconds slot_of(base::Nanoseconds step);

// The training's mean step, from the step counter of the run's control file on this host. Waits up to `patience` for
// the first steps, then measures for some seconds. None if no training moves the counter, or if the program is to stop.
std::optional<base::Nanoseconds> measure_step(const std::filesystem::path& run, const std::string& host,
                                              base::Nanoseconds patience);

}  // namespace noisegen
