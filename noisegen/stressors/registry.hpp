// SPDX-License-Identifier: Apache-2.0
// The registry of all stressors.
#pragma once

#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

const base::Registry<StressorCard>& stressors();

// Adds a stressor from outside of this source tree; its card must outlive the registry. Call it before any thread is
// started.
void add_stressor(const StressorCard& card);

}  // namespace noisegen
