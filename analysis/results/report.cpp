// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/report.hpp"

#include "analysis/results/numbers.hpp"
#include "base/error.hpp"

#include <algorithm>

namespace analysis {

LeftOut reason_of(const Report& report, std::size_t step)
{
    const LeftOut reason = report.analysis.exposures.left_out[step];
    return reason == LeftOut::no && is_set_aside(report.analysis, report.run.plan, step) ? LeftOut::outlier : reason;
}

std::vector<std::string> factor_names(const Experiment& plan)
{
    std::vector<std::string> names;
    for (const Treatment& treatment : plan.treatments)
        for (const Assigned& on : treatment.on)
            if (std::find(names.begin(), names.end(), on.factor) == names.end()) names.push_back(on.factor);
    return names;
}

}  // namespace analysis
