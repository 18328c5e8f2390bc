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

std::map<std::string, Colour> colours_by_factor(const Experiment& plan)
{
    const std::vector<std::string> names = factor_names(plan);
    const std::vector<Colour> all = colours(plan);
    std::map<std::string, Colour> by_factor;
    for (std::size_t n = 0; n < names.size(); ++n) by_factor[names[n]] = all[n];
    return by_factor;
}

}  // namespace analysis
