#include "analysis/report/report.hpp"

#include "analysis/report/again.hpp"
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
    const bool of_runs = report.runs > 1;
    const std::string gave = base::join(of_runs ? count(report.runs, "run") : length(report.verdict.run_minutes),
                                        " gave ± ", fixed(factor.interval.half_width(), 2), " points; ");
    if (!factor.forecast)
        return gave + "no forecast from " +
               (of_runs ? count(report.runs, "run") : count(static_cast<std::size_t>(report.analysis.blocks), "block"));
    const std::string would = base::join(" would give ± ", fixed(factor.forecast->half_width_percent, 2));
    const std::string half_width = base::join("± ", fixed(factor.forecast->half_width_percent, 2));
    if (factor.forecast->minutes >= forecast_limit_minutes) return gave + half_width + " would take more than a day";
    return gave + what_is_missing(report, factor.forecast->minutes) + would;
}

std::optional<double> forecast_minutes(const Report& report)
{
    std::optional<double> longest;
    for (const FactorVerdict& factor : report.verdict.factors)
        if (factor.forecast && factor.forecast->minutes > longest.value_or(0.0)) longest = factor.forecast->minutes;
    return longest;
}

}  // namespace analysis
