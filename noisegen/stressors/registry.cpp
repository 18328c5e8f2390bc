// SPDX-License-Identifier: Apache-2.0
#include "noisegen/stressors/registry.hpp"

namespace noisegen {

#define STRESSOR(card) extern const StressorCard card;
#include "noisegen/stressors/stressors.inc"
#undef STRESSOR

namespace {

using Registry = base::Registry<StressorCard>;

Registry registry_of(std::vector<const StressorCard*> cards)
{
    return {"stressor", "noisegen", std::move(cards)};
}

Registry& registry()
{
    static Registry all = registry_of({
#define STRESSOR(card) &(card),
#include "noisegen/stressors/stressors.inc"
#undef STRESSOR
    });
    return all;
}

}  // namespace

const Registry& stressors()
{
    return registry();
}

void add_stressor(const StressorCard& card)
{
    std::vector<const StressorCard*> cards = registry().cards();
    cards.push_back(&card);
    registry() = registry_of(std::move(cards));
}

}  // namespace noisegen
