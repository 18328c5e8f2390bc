// SPDX-License-Identifier: Apache-2.0
// Makes a single stressor, as the team of noisegen would, on the first CPU of this process.
#pragma once

#include "noisegen/resources/budgets.hpp"
#include "noisegen/stressors/registry.hpp"

#include <map>
#include <memory>
#include <string>

namespace testing {

struct Made {
    Made(const std::string& name, const std::map<std::string, std::string>& options)
    {
        const auto& card = noisegen::stressors().find(name);
        const auto settings = noisegen::stressors().settings(card, options);
        needs = card.needs(settings);
        noisegen::Place place;
        place.job = base::job_rank();
        if (card.share) shared = card.share(settings, place);
        place.shared = shared.get();
        stressor = card.make(settings, place);
    }

    noisegen::Needs needs;
    std::unique_ptr<noisegen::Shared> shared;
    std::unique_ptr<noisegen::Stressor> stressor;
};

}  // namespace testing
