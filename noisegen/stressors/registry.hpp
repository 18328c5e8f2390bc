// SPDX-License-Identifier: Apache-2.0
// All stressors there are.
#pragma once

#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

const base::Registry<StressorCard>& stressors();

// One more, from outside of this tree; the card outlives the registry. Before any thread is started.
void add_stressor(const StressorCard& card);

}  // namespace noisegen
