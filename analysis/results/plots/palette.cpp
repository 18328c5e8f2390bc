// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/plots/palette.hpp"

#include <algorithm>
#include <map>

namespace analysis {

std::vector<Colour> colours(const Experiment& plan)
{
    std::vector<Colour> all;
    std::map<std::string, std::size_t> of_family;
    for (const std::string& name : factor_names(plan)) {
        std::string stressor;
        for (const Treatment& treatment : plan.treatments)
            for (const Assigned& on : treatment.on)
                if (on.factor == name && stressor.empty()) stressor = on.stressor;
        all.push_back(colour(stressor, of_family[colour(stressor, 0).variable]++));
    }
    return all;
}

}  // namespace analysis
