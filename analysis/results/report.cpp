#include "analysis/results/report.hpp"

#include "analysis/results/next_run.hpp"
#include "analysis/results/numbers.hpp"
#include "base/contract/verdict_words.hpp"
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

bool is_open(const FactorVerdict& factor)
{
    return factor.verdict == base::verdict_word::undecided || factor.verdict == base::verdict_word::insensitive;
}

namespace {

// Up to which a longer run is proposed for an insensitive one.
constexpr double longest_proposed_minutes = 240.0;

// The smallest budget of the usual ones that the run could have seen.
std::string budget_it_could_see(const FactorVerdict& factor, double budget_percent)
{
    const double seen = std::max(factor.interval.half_width(), factor.at_worst.high);
    for (const double budget : {0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0})
        if (budget > budget_percent && budget > seen) return base::join(", or --budget ", budget, "%");
    return "";
}

}  // namespace

std::string outlook(const Report& report, const FactorVerdict& factor)
{
    const bool of_runs = report.runs > 1;
    const bool insensitive = factor.verdict == base::verdict_word::insensitive;
    std::string text = insensitive
                           ? base::join("this run cannot tell ", report.verdict.budget_percent, " %: ", factor.why)
                           : factor.why;
    if (!text.empty()) text += "; ";
    text += base::join(of_runs ? counted(report.runs, "run") : length_measured(report.verdict.run_minutes), " gave ± ",
                       fixed(factor.interval.half_width(), 2), " points");
    if (insensitive) {
        const std::string other_budget = report.verdict.insensitive.empty()
                                             ? budget_it_could_see(factor, report.verdict.budget_percent)
                                             : std::string{};
        text += other_budget.empty() ? ". It takes a quieter machine or a longer run"
                                     : ". It takes a quieter machine, a longer run" + other_budget;
        if (!factor.forecast || factor.forecast->minutes > longest_proposed_minutes) return text;
        return text + base::join(" (", what_is_missing(report, factor.forecast->minutes), " would give ± ",
                                 fixed(factor.forecast->half_width_percent, 2), ")");
    }
    if (!factor.forecast)
        return text + "; no forecast from " +
               (of_runs ? counted(report.runs, "run")
                        : counted(static_cast<std::size_t>(report.analysis.blocks), "block"));
    const std::string half_width = base::join("± ", fixed(factor.forecast->half_width_percent, 2));
    if (factor.forecast->minutes >= forecast_limit_minutes)
        return text + "; " + half_width + " would take more than a day";
    return text + "; " + what_is_missing(report, factor.forecast->minutes) + " would give " + half_width;
}

std::optional<double> forecast_minutes(const Report& report)
{
    std::optional<double> longest;
    for (const FactorVerdict& factor : report.verdict.factors)
        if (factor.forecast && factor.forecast->minutes > longest.value_or(0.0)) longest = factor.forecast->minutes;
    return longest;
}

}  // namespace analysis
