// SPDX-License-Identifier: Apache-2.0
// All stressors there are.
#pragma once

#include "noisegen/stressors/stressor.hpp"

namespace noisegen {

const base::Registry<StressorCard>& stressors();

}  // namespace noisegen
