#include "analysis/report/report.hpp"

#include "analysis/report/numbers.hpp"
#include "base/error.hpp"

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

std::string outlook(const Report& report, const FactorVerdict& factor)
{
    const std::string gave =
        base::join(length(report.verdict.run_minutes), " gave ± ", fixed(factor.interval.half_width(), 2), " points; ");
    if (!factor.forecast)
        return gave + "no forecast from " + count(static_cast<std::size_t>(report.analysis.blocks), "block");
    if (factor.forecast->minutes >= forecast_limit_minutes)
        return base::join(gave, "± ", fixed(factor.forecast->half_width_percent, 2), " would take more than a day");
    return base::join(gave, "a new run of ", length(factor.forecast->minutes), " would give ± ",
                      fixed(factor.forecast->half_width_percent, 2));
}

std::optional<double> forecast_minutes(const Report& report)
{
    std::optional<double> longest;
    for (const FactorVerdict& factor : report.verdict.factors)
        if (factor.forecast && factor.forecast->minutes > longest.value_or(0.0)) longest = factor.forecast->minutes;
    return longest;
}

}  // namespace analysis
