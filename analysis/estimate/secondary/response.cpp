#include "analysis/estimate/secondary/response.hpp"

#include "base/random.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr int parts_of_a_segment = 256;  // between two levels, at which effects are looked at
constexpr int draws_of_break = 2000;

// A dose and the contrast that measures its effect; no dose is no contrast.
struct Knot {
    double dose = 0.0;
    Eigen::VectorXd weights;
};

// What effects are computed from.
struct Basis {
    Fit fitted;
    Pooled quiet;
    CurveRules rules;

    Mean effect(const Eigen::VectorXd& weights) const
    {
        Mean percent = percent_of(pooled(fitted.blocks, weights, 0), quiet);
        percent.looked_at = rules.looked;
        return percent;
    }
    Interval interval(const Mean& percent) const { return percent.interval(rules.confidence); }
};

Basis basis_of(const DesignedRun& run, const Analysis& analysis, const CurveRules& rules)
{
    Basis basis{
        fit(analysis.exposures.job, used_blocks(analysis.exposures), job_measures(run.steps).leftCols(1), run.plan),
        {},
        rules};
    const auto treatments = static_cast<Eigen::Index>(run.plan.treatments.size());
    basis.quiet = pooled(basis.fitted.blocks, Eigen::VectorXd::Unit(treatments, 0), 0);
    return basis;
}

// By factor and level; the kind of contrast that gets the verdict.
std::map<std::string, std::map<std::string, Contrast>> judged_contrasts(const Experiment& plan)
{
    std::map<std::string, std::map<std::string, Contrast>> all;
    for (const Contrast& contrast : contrasts(plan)) {
        if (contrast.kind == Kind::interaction || contrast.role != base::Role::treatment) continue;
        if (contrast.kind == Kind::average || !all[contrast.factor].contains(contrast.level))
            all[contrast.factor].insert_or_assign(contrast.level, contrast);
    }
    return all;
}

// The doses of a factor's levels, if they are amounts of one option in one unit.
struct Axis {
    std::string option;
    std::string unit;
    bool achieved = false;
    std::map<std::string, double> dose;  // by level
};

std::optional<Axis> asked_axis(const std::map<std::string, Contrast>& levels)
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

// The same by what was achieved, if that is on record for each level.
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

// None of it is quiet, so that the effect begins at nothing.
bool begins_at_zero(const Axis& axis)
{
    return axis.option == "rate" || axis.option == "duty";
}

void fit_curve(ResponseCurve& curve, const Basis& basis, bool from_zero)
{
    std::vector<double> values;
    std::vector<double> lows;
    std::vector<double> highs;
    std::vector<double> weights;
    for (const CurvePoint& point : curve.points) {
        const Interval interval = basis.interval(point.percent);
        const double error = point.percent.standard_error;
        values.push_back(point.percent.value);
        lows.push_back(interval.low);
        highs.push_back(interval.high);
        weights.push_back(error > 0.0 ? 1.0 / (error * error) : 1.0);
    }
    values = base::isotonic(values, weights);
    lows = base::isotonic(lows, weights);
    highs = base::isotonic(highs, weights);
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
        // A curve that begins at nothing and never falls is nowhere below it.
        curve.points[i].fitted_percent = from_zero ? std::max(0.0, values[i]) : values[i];
        curve.points[i].fitted = {lows[i], highs[i]};
    }
}

// The dose at which the fitted curve reaches the budget.
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
    std::vector<double> fitted(knots.size() - curve.points.size(), 0.0);  // of the dose of nothing
    for (const CurvePoint& point : curve.points) fitted.push_back(point.fitted_percent);
    const double budget = basis.rules.budget_percent;
    DoseEstimate tolerated{reaches(knots, fitted, budget), {}, {}};
    bool safe_so_far = true;
    for (std::size_t k = 0; k < knots.size(); ++k) {
        const bool last = k + 1 == knots.size();
        for (int part = 0; part < (last ? 1 : parts_of_a_segment); ++part) {
            const double share = static_cast<double>(part) / parts_of_a_segment;
            const Knot& next = knots[last ? k : k + 1];
            const double dose = knots[k].dose + share * (next.dose - knots[k].dose);
            const Interval effect =
                basis.interval(basis.effect((1.0 - share) * knots[k].weights + share * next.weights));
            safe_so_far = safe_so_far && effect.high < budget;
            if (safe_so_far) tolerated.low = dose;
            if (effect.low <= budget)
                tolerated.high.reset();
            else if (!tolerated.high)
                tolerated.high = dose;
        }
    }
    return tolerated;
}

// Index of the lowest level in the unbroken row from the highest down whose effect is above zero; their number if none.
std::size_t first_above_zero(const Eigen::VectorXd& percent, const Eigen::VectorXd& half_width)
{
    Eigen::Index first = percent.size();
    while (first > 0 && percent[first - 1] > half_width[first - 1]) --first;
    return static_cast<std::size_t>(first);
}

// Effects as another run of as many blocks could have measured them: their joint distribution is Student's t, with the
// covariance of the blocks.
class Draw {
 public:
    Draw(const Eigen::VectorXd& percent, Eigen::MatrixXd influence, std::uint64_t seed)
        : percent_{percent}, influence_{std::move(influence)}, random_{seed}
    {
    }

    Eigen::VectorXd next()
    {
        const auto blocks = static_cast<double>(influence_.rows());
        Eigen::VectorXd normal(influence_.rows());
        for (double& each : normal) each = base::draw_normal(random_);
        double squares = 0.0;
        for (Eigen::Index i = 1; i < influence_.rows(); ++i) {
            const double each = base::draw_normal(random_);
            squares += each * each;
        }
        const double spread = std::sqrt((blocks - 1.0) / squares / (blocks * (blocks - 1.0)));
        return percent_ + spread * influence_.transpose() * normal;
    }

 private:
    const Eigen::VectorXd& percent_;
    Eigen::MatrixXd influence_;  // blocks x levels
    base::Random random_;
};

DoseEstimate break_point(const std::vector<Knot>& levels, const Basis& basis)
{
    const auto count = static_cast<Eigen::Index>(levels.size());
    Eigen::VectorXd percent(count);
    Eigen::VectorXd half_width(count);
    Eigen::MatrixXd influence(static_cast<Eigen::Index>(basis.fitted.blocks.size()), count);
    for (Eigen::Index i = 0; i < count; ++i) {
        const Eigen::VectorXd& weights = levels[static_cast<std::size_t>(i)].weights;
        const Mean effect = basis.effect(weights);
        percent[i] = effect.value;
        half_width[i] = basis.interval(effect).half_width();
        influence.col(i) = percent_influence(pooled(basis.fitted.blocks, weights, 0), basis.quiet);
    }
    Draw draw{percent, std::move(influence), basis.rules.seed};
    std::vector<std::size_t> drawn;
    for (int d = 0; d < draws_of_break; ++d) drawn.push_back(first_above_zero(draw.next(), half_width));
    std::sort(drawn.begin(), drawn.end());
    const auto dose = [&](std::size_t level) {
        return level < levels.size() ? std::optional{levels[level].dose} : std::nullopt;
    };
    const auto quantile = [&](double share) {
        return dose(drawn[static_cast<std::size_t>(share * (draws_of_break - 1))]);
    };
    const double outside = (1.0 - basis.rules.confidence) / 2.0;
    return {dose(first_above_zero(percent, half_width)), quantile(outside), quantile(1.0 - outside)};
}

ResponseCurve curve_of(const std::string& factor, const std::map<std::string, Contrast>& levels, const Axis& axis,
                       const Basis& basis)
{
    ResponseCurve curve{factor, levels.begin()->second.stressor, axis.option, axis.unit, axis.achieved, {}, {}, {}};
    for (const auto& [level, contrast] : levels)
        curve.points.push_back({level, axis.dose.at(level), basis.effect(contrast.weights), 0.0, {}});
    std::sort(curve.points.begin(), curve.points.end(),
              [](const CurvePoint& a, const CurvePoint& b) { return a.dose < b.dose; });
    std::vector<Knot> knots;
    for (const CurvePoint& point : curve.points) knots.push_back({point.dose, levels.at(point.level).weights});
    curve.break_point = break_point(knots, basis);
    const bool from_zero = begins_at_zero(axis);
    fit_curve(curve, basis, from_zero);
    if (from_zero) knots.insert(knots.begin(), {0.0, Eigen::VectorXd::Zero(knots.front().weights.size())});
    curve.tolerated = tolerated_dose(knots, curve, basis);
    return curve;
}

}  // namespace

std::vector<ResponseCurve> response_curves(const DesignedRun& run, const Analysis& analysis, const Doses& doses,
                                           const CurveRules& rules)
{
    std::vector<ResponseCurve> curves;
    std::optional<Basis> basis;
    for (const auto& [factor, levels] : judged_contrasts(run.plan)) {
        if (levels.size() < 2) continue;
        const std::optional<Axis> asked = asked_axis(levels);
        if (!asked) continue;
        if (!basis) basis = basis_of(run, analysis, rules);
        curves.push_back(curve_of(factor, levels, achieved_axis(factor, *asked, doses).value_or(*asked), *basis));
    }
    return curves;
}

}  // namespace analysis
