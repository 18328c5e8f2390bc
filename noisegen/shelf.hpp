// All stressors there are.
#pragma once

#include "noisegen/stressor.hpp"

namespace noisegen {

const base::Shelf<StressorCard>& stressors();

}  // namespace noisegen
