// SPDX-License-Identifier: Apache-2.0
#include "analysis/studies/response_and_carry_over_studies.hpp"

#include "analysis/estimate/carry_over.hpp"
#include "analysis/sections/response/response.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr double budget_of_curve_percent = 3.0;
constexpr int levels_of_curve = 8;       // 1 to 8 GiB/s
constexpr double knee = 3.0;             // GiB/s; up to here the effect is zero
constexpr double percent_a_level = 2.0;  // slowdown for each GiB/s above the knee

// Mean carry-over in the steps that lie wholly in a slot. It fades as exp(-t / fading_s); the first of these steps
// begins up to a step after the slot's start, and the last one ends up to a step before its end. Computed directly, not
// by the estimator's rule.
double mean_left_percent(double left_percent, double fading_s, const Simulation& what)
{
    if (fading_s <= 0.0) return left_percent;
    constexpr int parts = 100;
    const double step_s = what.step_ms / 1e3;
    double sum = 0.0;
    for (int i = 0; i < parts; ++i)
        for (int j = 0; j < parts; ++j) {
            const double begin = step_s * (i + 0.5) / parts;
            const double end = what.slot_s - step_s * (j + 0.5) / parts;
            sum += fading_s * (std::exp(-begin / fading_s) - std::exp(-end / fading_s)) / (end - begin);
        }
    return left_percent * sum / (parts * parts);
}

double true_effect(int level)
{
    return percent_a_level * std::max(0.0, level - knee);
}

Simulation with_levels()
{
    Simulation what = study_simulation({}, 330.0);
    for (int level = 1; level <= levels_of_curve; ++level) {
        what.effects_percent.push_back(true_effect(level));
        what.levels.push_back(base::join("rate=", level, "GiB/s"));
    }
    return what;
}

}  // namespace

void study_of_response(std::ostream& out, const Study& study)
{
    constexpr double gib = 1073741824.0;
    constexpr double tolerated = (knee + budget_of_curve_percent / percent_a_level) * gib;
    constexpr double break_level = (knee + 1.0) * gib;  // the lowest level with an effect
    base::Random random{study.seed};
    double near = 0.0;
    double covered = 0.0;
    double called_safe = 0.0;
    double width = 0.0;
    for (int repetition = 0; repetition < study.repetitions; ++repetition) {
        const DesignedRun run = designed_run(simulate(with_levels(), random));
        const Analysis analysis = analyse(run, {.draws = {.count = 0}, .by_rank = false});
        const CurveRules rules{budget_of_curve_percent, study_confidence, Looks::none, random()};
        const ResponseCurve curve = response_curves({{{&run, &analysis}}}, {}, rules).at(0);
        const DoseEstimate& dose = curve.tolerated;
        const double found = curve.break_point.value.value_or(INFINITY);
        near += std::abs(found - break_level) < 1.01 * gib ? 1.0 : 0.0;
        const double low = dose.low.value_or(0.0);
        const double high = dose.high.value_or(levels_of_curve * gib);
        covered += low <= tolerated && tolerated <= high ? 1.0 : 0.0;
        called_safe += low > tolerated ? 1.0 : 0.0;
        width += (high - low) / gib;
    }
    const auto row = [&](const char* quantity, double sum) {
        tell_row(out, study, "response", budget_of_curve_percent, 0.0, levels_of_curve, quantity,
                 sum / study.repetitions);
    };
    row("break point within one level", near);
    row("coverage of the tolerated level", covered);
    row("safe up to more than is tolerated", called_safe);
    row("width of its interval, levels", width);
}

void study_of_carry_over(std::ostream& out, const Study& study)
{
    const std::vector<double> left{0.0, 2.0, 5.0, 0.0};
    for (const double fading_s : {0.0, 0.3}) {
        base::Random random{study.seed};
        Simulation what = study_simulation({0.0, 5.0, 20.0, 1.0}, 240.0);
        what.carry_over_percent = left;
        what.carry_over_s = fading_s;
        std::vector<double> sum(left.size(), 0.0);
        std::vector<double> covered(left.size(), 0.0);
        for (int repetition = 0; repetition < study.repetitions; ++repetition) {
            const DesignedRun run = designed_run(simulate(what, random));
            const Analysis analysis = analyse(run, {.draws = {.count = 0}, .by_rank = false});
            for (const CarryOver& found : analysis.carry_over) {
                const auto f = static_cast<std::size_t>(found.factor.back() - '0');
                const double truth = mean_left_percent(left[f], fading_s, what);
                sum[f] += found.percent.value;
                covered[f] += found.percent.interval(study_confidence).contains(truth) ? 1.0 : 0.0;
            }
        }
        for (std::size_t f = 0; f < left.size(); ++f) {
            const auto row = [&](const char* quantity, double value) {
                tell_row(out, study, "carry-over", left[f], fading_s, static_cast<int>(f), quantity, value);
            };
            row("mean estimate, percent", sum[f] / study.repetitions);
            row("truth, percent", mean_left_percent(left[f], fading_s, what));
            row("coverage of the carry-over", covered[f] / study.repetitions);
        }
    }
}

}  // namespace analysis
