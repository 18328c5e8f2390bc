// SPDX-License-Identifier: Apache-2.0
// The schedule language (docs/noisegen.md): text to a schedule.
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace noisegen {

// Throws UsageError for anything that is not a schedule, and says which word is wrong.
Schedule parse_schedule(std::string_view text);

// A rotation of stressors that were given one by one, as the commands take them. Throws UsageError for a word that is
// not one stressor.
Schedule rotation_of(const std::vector<std::string>& stressors, base::Nanoseconds slot);

}  // namespace noisegen
