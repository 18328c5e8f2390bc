// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/registry.hpp"

namespace noisegen {

#define STRESSOR(card) extern const StressorCard card;
#include "noisegen/stressors/stressors.inc"
#undef STRESSOR

const base::Registry<StressorCard>& stressors()
{
    static const base::Registry<StressorCard> registry{"stressor",
                                                       "noisegen",
                                                       {
#define STRESSOR(card) &(card),
#include "noisegen/stressors/stressors.inc"
#undef STRESSOR
                                                       }};
    return registry;
}

}  // namespace noisegen
