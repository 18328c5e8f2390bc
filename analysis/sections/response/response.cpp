// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/response/response.hpp"

#include "base/contract/job_cores.hpp"
#include "base/random.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr int parts_of_a_segment = 256;  // points between two levels at which effects are computed
constexpr int draws_of_break = 2000;

// A dose and the contrasts that measure its effect; dose 0 has none.
struct Knot {
    double dose = 0.0;
    Weights weights;
};

Weights mixed(const Weights& a, double share_of_b, const Weights& b)
{
    Weights mix;
    for (std::size_t part = 0; part < a.size(); ++part)
        mix.push_back((1.0 - share_of_b) * a[part] + share_of_b * b[part]);
    return mix;
}

// By factor and level; the kind of contrast that gets the verdict.
using Levels = std::map<std::string, Contrast>;
using LevelsOfFactors = std::map<std::string, Levels>;

LevelsOfFactors judged_contrasts(const Experiment& plan)
{
    LevelsOfFactors all;
    for (const Contrast& contrast : contrasts(plan)) {
        if (contrast.kind == Kind::interaction || contrast.role != base::Role::treatment) continue;
        if (contrast.kind == Kind::average || !all[contrast.factor].contains(contrast.level))
            all[contrast.factor].insert_or_assign(contrast.level, contrast);
    }
    return all;
}

// The doses of a factor's levels, if these are amounts of one option in one unit.
struct Axis {
    std::string option;
    std::string unit;
    bool achieved = false;
    std::map<std::string, double> dose;  // by level
};

std::optional<Axis> asked_axis(const Levels& levels)
{
    Axis axis;
    for (const auto& [level, contrast] : levels) {
        const Amount amount = amount_of(level);
        if (!amount.value) return std::nullopt;
        if (!axis.dose.empty() && (amount.option != axis.option || amount.unit != axis.unit)) return std::nullopt;
        axis.option = amount.option;
        axis.unit = amount.unit;
        axis.dose[level] = *amount.value;
    }
    return axis;
}

// The axis of achieved doses, if they are recorded for each level.
std::optional<Axis> achieved_axis(const std::string& factor, const Axis& asked, const Doses& doses)
{
    const auto by = [&](const char* unit, const auto& value) -> std::optional<Axis> {
        Axis axis{asked.option, unit, true, {}};
        for (const auto& [level, dose] : asked.dose) {
            const auto found = doses.find({factor, level});
            if (found == doses.end() || value(found->second) <= 0.0) return std::nullopt;
            axis.dose[level] = value(found->second);
        }
        return axis;
    };
    if (asked.option == "duty") return by("percent", [](const Achieved& done) { return 100.0 * done.duty; });
    if (asked.option != "rate") return std::nullopt;
    if (asked.unit != "operations/s")
        if (auto axis = by("bytes/s", [](const Achieved& done) { return done.bytes_per_s; })) return axis;
    if (asked.unit == "bytes/s") return std::nullopt;
    return by("operations/s", [](const Achieved& done) { return done.operations_per_s; });
}

// True if an amount of zero means no noise, so that the effect begins at zero.
bool begins_at_zero(const Axis& axis)
{
    return axis.option == "rate" || axis.option == "duty";
}

void fit_curve(ResponseCurve& curve, const Basis& basis, bool from_zero)
{
    std::vector<double> values;
    std::vector<double> lows;
    std::vector<double> highs;
    std::vector<double> with_accidents;
    std::vector<double> weights;
    for (const CurvePoint& point : curve.points) {
        const Interval interval = basis.interval(point.percent);
        const double error = point.percent.standard_error;
        values.push_back(point.percent.value);
        lows.push_back(interval.low);
        highs.push_back(interval.high);
        with_accidents.push_back(point.fitted_with_accidents);
        weights.push_back(error > 0.0 ? 1.0 / (error * error) : 1.0);
    }
    values = base::isotonic(values, weights);
    lows = base::isotonic(lows, weights);
    highs = base::isotonic(highs, weights);
    with_accidents = base::isotonic(with_accidents, weights);
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        // A curve that begins at zero and never falls is nowhere below zero.
        curve.points[i].fitted_percent = from_zero ? std::max(0.0, values[i]) : values[i];
        curve.points[i].fitted = {lows[i], highs[i]};
        curve.points[i].fitted_with_accidents = with_accidents[i];
    }
}

// The dose at which the fitted curve reaches the budget; none if it does not.
std::optional<double> reaches(const std::vector<Knot>& knots, const std::vector<double>& fitted, double budget)
{
    for (std::size_t k = 0; k < knots.size(); ++k) {
        if (fitted[k] < budget) continue;
        if (k == 0) return knots[k].dose;
        const double share = (budget - fitted[k - 1]) / (fitted[k] - fitted[k - 1]);
        return knots[k - 1].dose + share * (knots[k].dose - knots[k - 1].dose);
    }
    return std::nullopt;
}

DoseEstimate tolerated_dose(const std::vector<Knot>& knots, const ResponseCurve& curve, const Basis& basis)
{
    std::vector<double> fitted(knots.size() - curve.points.size(), 0.0);  // for the dose of zero
    for (const CurvePoint& point : curve.points) fitted.push_back(point.fitted_percent);
    const double budget = basis.rules().budget_percent;
    DoseEstimate tolerated{reaches(knots, fitted, budget), {}, {}};
    bool safe_so_far = true;
    for (std::size_t k = 0; k < knots.size(); ++k) {
        const bool last = k + 1 == knots.size();
        for (int part = 0; part < (last ? 1 : parts_of_a_segment); ++part) {
            const double share = static_cast<double>(part) / parts_of_a_segment;
            const Knot& next = knots[last ? k : k + 1];
            const double dose = knots[k].dose + share * (next.dose - knots[k].dose);
            const Weights weights = mixed(knots[k].weights, share, next.weights);
            const Interval effect = basis.interval(basis.effect(weights));
            safe_so_far = safe_so_far && basis.highest(weights) < budget;
            if (safe_so_far && part == 0) tolerated.low = dose;
            if (effect.low <= budget)
                tolerated.high.reset();
            else if (!tolerated.high)
                tolerated.high = dose;
        }
    }
    return tolerated;
}

// Index of the lowest level of the unbroken series from the highest down whose effects are above zero; number of levels
// if none.
std::size_t first_above_zero(const Eigen::VectorXd& percent, const Eigen::VectorXd& half_width)
{
    Eigen::Index first = percent.size();
    while (first > 0 && percent[first - 1] > half_width[first - 1]) --first;
    return static_cast<std::size_t>(first);
}

// Draws effects as another run with the same number of blocks, or as many other runs, could have measured them: their
// joint distribution is Student's t, with the covariance of the blocks or runs.
class Draw {
 public:
    Draw(const Eigen::VectorXd& percent, Eigen::MatrixXd influence, std::uint64_t seed)
        : percent_{percent}, influence_{std::move(influence)}, random_{seed}
    {
    }

    Eigen::VectorXd next()
    {
        const auto units = static_cast<double>(influence_.rows());
        Eigen::VectorXd normal(influence_.rows());
        for (double& each : normal) each = base::draw_normal(random_);
        double squares = 0.0;
        for (Eigen::Index i = 1; i < influence_.rows(); ++i) {
            const double each = base::draw_normal(random_);
            squares += each * each;
        }
        const double spread = std::sqrt((units - 1.0) / squares / (units * (units - 1.0)));
        return percent_ + spread * influence_.transpose() * normal;
    }

 private:
    const Eigen::VectorXd& percent_;
    Eigen::MatrixXd influence_;  // blocks or runs x levels
    base::Random random_;
};

DoseEstimate break_point(const std::vector<Knot>& levels, const Basis& basis)
{
    const auto count = static_cast<Eigen::Index>(levels.size());
    Eigen::VectorXd percent(count);
    Eigen::VectorXd half_width(count);
    Eigen::MatrixXd influence;
    for (Eigen::Index i = 0; i < count; ++i) {
        const Weights& weights = levels[static_cast<std::size_t>(i)].weights;
        const Mean effect = basis.effect(weights);
        percent[i] = effect.value;
        half_width[i] = basis.interval(effect).half_width();
        const Eigen::VectorXd of_level = basis.influence(weights);
        if (i == 0) influence.resize(of_level.size(), count);
        influence.col(i) = of_level;
    }
    Draw draw{percent, std::move(influence), basis.rules().seed};
    std::vector<std::size_t> drawn;
    for (int d = 0; d < draws_of_break; ++d) drawn.push_back(first_above_zero(draw.next(), half_width));
    std::sort(drawn.begin(), drawn.end());
    const auto dose = [&](std::size_t level) {
        return level < levels.size() ? std::optional{levels[level].dose} : std::nullopt;
    };
    const auto quantile = [&](double share) {
        return dose(drawn[static_cast<std::size_t>(share * (draws_of_break - 1))]);
    };
    const double outside = (1.0 - basis.rules().confidence) / 2.0;
    return {dose(first_above_zero(percent, half_width)), quantile(outside), quantile(1.0 - outside)};
}

// [part]: contrasts of its plan; each part numbers its treatments itself.
Weights weights_of(const std::vector<Levels>& parts, const std::string& level)
{
    Weights weights;
    for (const Levels& levels : parts) weights.push_back(levels.at(level).weights);
    return weights;
}

std::optional<Achieved> achieved_at(const Doses& doses, const std::string& factor, const std::string& level)
{
    const auto found = doses.find({factor, level});
    return found == doses.end() ? std::nullopt : std::optional{found->second};
}

ResponseCurve curve_of(const std::string& factor, const std::vector<Levels>& parts, const Axis& axis,
                       const Doses& doses, const Basis& basis)
{
    const Levels& levels = parts.front();
    const std::string& stressor = levels.begin()->second.stressor;
    ResponseCurve curve{.factor = factor,
                        .stressor = stressor,
                        .option = axis.option,
                        .unit = axis.unit,
                        .achieved = axis.achieved,
                        .falls = stressor == base::job_cores::stressor && axis.option == base::job_cores::keep,
                        .points = {},
                        .break_point = {},
                        .tolerated = {}};
    for (const auto& [level, contrast] : levels) {
        const Weights weights = weights_of(parts, level);
        curve.points.push_back({.level = level,
                                .dose = axis.dose.at(level),
                                .achieved = achieved_at(doses, factor, level),
                                .percent = basis.effect(weights),
                                .fitted_percent = 0.0,
                                .fitted = {},
                                .fitted_with_accidents = basis.highest_with_accidents(weights)});
    }
    std::sort(curve.points.begin(), curve.points.end(), [&](const CurvePoint& a, const CurvePoint& b) {
        return curve.falls ? a.dose > b.dose : a.dose < b.dose;
    });
    std::vector<Knot> knots;
    for (const CurvePoint& point : curve.points) knots.push_back({point.dose, weights_of(parts, point.level)});
    curve.break_point = break_point(knots, basis);
    const bool from_zero = begins_at_zero(axis);
    fit_curve(curve, basis, from_zero);
    if (curve.falls) return curve;
    if (from_zero) {
        knots.insert(knots.begin(), {0.0, knots.front().weights});
        for (Eigen::VectorXd& weights : knots.front().weights) weights.setZero();
    }
    curve.tolerated = tolerated_dose(knots, curve, basis);
    return curve;
}

// [part]: the factor's levels; empty if the parts have different levels.
std::vector<Levels> levels_in_all(const std::vector<LevelsOfFactors>& parts, const std::string& factor)
{
    const auto same_level = [](const auto& a, const auto& b) { return a.first == b.first; };
    std::vector<Levels> all;
    for (const LevelsOfFactors& factors : parts) {
        const auto found = factors.find(factor);
        if (found == factors.end()) return {};
        all.push_back(found->second);
        if (!std::equal(all.front().begin(), all.front().end(), all.back().begin(), all.back().end(), same_level))
            return {};
    }
    return all;
}

}  // namespace

std::vector<ResponseCurve> response_curves(const std::vector<RunOfCurve>& runs, const Doses& doses,
                                           const CurveRules& rules)
{
    std::vector<LevelsOfFactors> parts;
    for (const RunOfCurve& run : runs)
        for (const PartOfCurve& part : run) parts.push_back(judged_contrasts(part.run->plan));
    std::vector<ResponseCurve> curves;
    std::optional<Basis> basis;
    for (const auto& [factor, levels] : parts.front()) {
        if (levels.size() < 2) continue;
        const std::optional<Axis> asked = asked_axis(levels);
        const std::vector<Levels> of_parts = levels_in_all(parts, factor);
        if (!asked || of_parts.empty()) continue;
        if (!basis) basis.emplace(runs, rules);
        const Axis axis = achieved_axis(factor, *asked, doses).value_or(*asked);
        curves.push_back(curve_of(factor, of_parts, axis, doses, *basis));
    }
    return curves;
}

}  // namespace analysis
