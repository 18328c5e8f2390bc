// SPDX-License-Identifier: Apache-2.0
// Parser of the schedule language (docs/noisegen.md).
#pragma once

#include "noisegen/schedule/schedule.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace noisegen {

// Throws UsageError that names the wrong word if the text is not a schedule.
Schedule parse_schedule(std::string_view text);

// A rotation of stressors given one by one, as in the commands' options. Throws UsageError for a word that is not a
// single stressor.
Schedule rotation_of(const std::vector<std::string>& stressors, base::Nanoseconds slot);

}  // namespace noisegen
