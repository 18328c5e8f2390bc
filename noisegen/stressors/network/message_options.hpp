// SPDX-License-Identifier: Apache-2.0
// Options that several network stressors have.
#pragma once

#include "base/cli/cards.hpp"

#include <cstddef>

namespace noisegen {

// The option `name` of the stressor: a size from `unit` bytes to 1 GiB, a multiple of `unit`. Throws UsageError.
std::size_t message_size(const std::string& stressor, const base::Settings& settings, const std::string& name,
                         std::size_t unit = 1);

// The option `name` as a whole number from 1 to `most`. Throws UsageError.
int count_option(const std::string& stressor, const base::Settings& settings, const std::string& name, int most);

}  // namespace noisegen
