#include "analysis/report/report.hpp"

#include <algorithm>

namespace analysis {

std::vector<std::string> factor_names(const Experiment& plan)
{
    std::vector<std::string> names;
    for (const Treatment& treatment : plan.treatments)
        for (const Assigned& on : treatment.on)
            if (std::find(names.begin(), names.end(), on.factor) == names.end()) names.push_back(on.factor);
    return names;
}

}  // namespace analysis
