// SPDX-License-Identifier: Apache-2.0
// A stressor that does a victim's work instead of noise.
#pragma once

#include "noisegen/stressors/registry.hpp"

#include <map>
#include <memory>
#include <string>

namespace noisegen {

// A stressor that runs on its own, without a rate.
class AtWork {
 public:
    AtWork(const std::string& name, const std::map<std::string, std::string>& options, int cpu)
    {
        const StressorCard& card = stressors().find(name);
        const base::Settings settings = stressors().settings(card, options);
        Place place;
        place.cpu = cpu;
        if (card.share) shared_ = card.share(settings, place);
        place.shared = shared_.get();
        stressor_ = card.make(settings, place);
        stressor_->begin({});
    }

    Work step() { return stressor_->step(); }

 private:
    std::unique_ptr<Shared> shared_;
    std::unique_ptr<Stressor> stressor_;
};

}  // namespace noisegen
