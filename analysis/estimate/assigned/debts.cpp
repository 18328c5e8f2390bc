// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/assigned/debts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace analysis {

namespace {

constexpr std::size_t fewest_members = 5;  // for a slope: three degrees of freedom are left

// Long steps of one kind: their time beyond ordinary steps, and the noise before them.
struct Members {
    std::vector<double> excess_ms;
    std::vector<std::size_t> treatment;
    std::vector<Eigen::VectorXd> since;  // [noise]: number of steps under it since the previous long step of this kind
    std::vector<Eigen::VectorXd> slot_before;  // [noise]: 1 if it was on in the slot before
};

bool has(const Treatment& treatment, const Assigned& noise)
{
    return std::find(treatment.on.begin(), treatment.on.end(), noise) != treatment.on.end();
}

// [noise]: 1 if the treatment includes it.
Eigen::VectorXd on(const Experiment& plan, std::size_t treatment, const std::vector<Assigned>& noises)
{
    Eigen::VectorXd is_on(static_cast<Eigen::Index>(noises.size()));
    for (std::size_t n = 0; n < noises.size(); ++n)
        is_on[static_cast<Eigen::Index>(n)] = has(plan.treatments[treatment], noises[n]) ? 1.0 : 0.0;
    return is_on;
}

// kind: a stratum's index, or LongSteps::accident.
Members members_of(int kind, const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                   const LongSteps& steps, const std::vector<Assigned>& noises)
{
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(noises.size()));
    Members members;
    Eigen::VectorXd since = none;
    bool is_first = true;
    for (std::size_t i = 0; i < steps.kind.size(); ++i) {
        if (exposures.slot[i] == no_slot) continue;
        const std::size_t treatment = treatment_of(exposures, plan, i);
        if (steps.kind[i] == kind) {
            if (!is_first) {
                const auto slot = static_cast<std::size_t>(exposures.slot[i]);
                members.excess_ms.push_back((1.0 - steps.regular[i]) * step_ms.first(i));
                members.treatment.push_back(treatment);
                members.since.push_back(since);
                members.slot_before.push_back(slot == 0 ? none : on(plan, plan.treatment_of[slot - 1], noises));
            }
            is_first = false;
            since.setZero();
        }
        since += on(plan, treatment, noises);
    }
    return members;
}

// The slope of the excess time over one noise's column of `before`, in ms per unit; none if the column is constant.
std::optional<base::Mean> slope_alone(const Members& members, const std::vector<Eigen::VectorXd>& before,
                                      Eigen::Index noise)
{
    const auto count = static_cast<double>(before.size());
    double sum_x = 0.0;
    double sum_y = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        sum_x += before[i][noise];
        sum_y += members.excess_ms[i];
    }
    double xx = 0.0;
    double xy = 0.0;
    double yy = 0.0;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const double x = before[i][noise] - sum_x / count;
        const double y = members.excess_ms[i] - sum_y / count;
        xx += x * x;
        xy += x * y;
        yy += y * y;
    }
    if (xx <= 0.0) return std::nullopt;
    const double degrees = count - 2.0;
    return base::Mean{xy / xx, std::sqrt(std::max(0.0, yy - xy * xy / xx) / degrees / xx), degrees};
}

// [noise]: the slope if the noise caused all of the excess time, in ms per unit of `before`.
std::vector<double> most_per_step(const Members& members, const std::vector<Eigen::VectorXd>& before)
{
    std::vector<double> most;
    for (Eigen::Index n = 0; n < before.front().size(); ++n) {
        double excess = 0.0;
        double with_noise = 0.0;
        for (std::size_t i = 0; i < before.size(); ++i) {
            excess += std::max(0.0, members.excess_ms[i]);
            with_noise += before[i][n];
        }
        most.push_back(with_noise > 0.0 ? excess / with_noise : 0.0);
    }
    return most;
}

// [noise]: slopes of the excess time over the columns of `before`, in ms per unit; empty if there are too few long
// steps.
std::vector<base::Mean> slopes(const Members& members, const std::vector<Eigen::VectorXd>& before,
                               std::size_t treatments)
{
    if (before.size() < fewest_members) return {};
    const auto alone = [&] {
        std::vector<base::Mean> all;
        for (Eigen::Index n = 0; n < before.front().size(); ++n)
            all.push_back(slope_alone(members, before, n).value_or(base::Mean{}));
        return all;
    };
    const auto rows = static_cast<Eigen::Index>(before.size());
    const Eigen::Index noises = before.front().size();
    std::vector<Eigen::Index> column(treatments, -1);
    Eigen::Index columns = noises;
    for (const std::size_t treatment : members.treatment)
        if (column[treatment] < 0) column[treatment] = columns++;
    const Eigen::Index degrees = rows - columns;
    if (degrees < 3) return alone();
    Eigen::MatrixXd x = Eigen::MatrixXd::Zero(rows, columns);
    Eigen::VectorXd y(rows);
    for (Eigen::Index i = 0; i < rows; ++i) {
        const auto member = static_cast<std::size_t>(i);
        x.row(i).head(noises) = before[member].transpose();
        x(i, column[members.treatment[member]]) = 1.0;
        y[i] = members.excess_ms[member];
    }
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver;
    solver.setThreshold(1e-9);
    solver.compute(x);
    if (solver.rank() < columns) return alone();
    const Eigen::VectorXd found = solver.solve(y);
    const double variance = (y - x * found).squaredNorm() / static_cast<double>(degrees);
    const Eigen::MatrixXd inverse = (x.transpose() * x).ldlt().solve(Eigen::MatrixXd::Identity(columns, columns));
    std::vector<base::Mean> all;
    for (Eigen::Index n = 0; n < noises; ++n)
        all.push_back({found[n], std::sqrt(std::max(0.0, variance * inverse(n, n))), static_cast<double>(degrees)});
    return all;
}

}  // namespace

std::vector<Debt> debts(const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                        const LongSteps& steps, const std::vector<Assigned>& noises, double quiet_ms)
{
    constexpr double significant = 0.01;
    constexpr double confidence = 0.95;
    struct Way {
        std::string to;
        std::size_t noise;
        base::Mean percent;
    };
    std::vector<Way> ways;
    std::vector<double> p;
    const auto add = [&](const std::string& to, const std::vector<base::Mean>& ms, double to_percent) {
        for (std::size_t n = 0; n < ms.size(); ++n) {
            if (ms[n].degrees_of_freedom == 0.0) continue;
            const base::Mean percent{to_percent * ms[n].value, to_percent * ms[n].standard_error,
                                     ms[n].degrees_of_freedom};
            const double two_sided = percent.standard_error > 0.0 ? percent.p_value() : 1.0;
            ways.push_back({to, n, percent});
            p.push_back(percent.value > 0.0 ? two_sided / 2.0 : 1.0 - two_sided / 2.0);
        }
    };
    std::vector<Debt> all(noises.size());
    const auto look_at = [&](int kind, const std::string& name, double share) {
        const Members members = members_of(kind, step_ms, exposures, plan, steps, noises);
        add(name, slopes(members, members.since, plan.treatments.size()), 100.0 / quiet_ms);
        add(name, slopes(members, members.slot_before, plan.treatments.size()), 100.0 * share / quiet_ms);
        if (kind == LongSteps::accident || members.since.empty() || members.since.size() >= fewest_members) return;
        const std::vector<double> most = most_per_step(members, members.since);
        for (std::size_t n = 0; n < most.size(); ++n)
            all[n].most_percent = std::max(all[n].most_percent, 100.0 * most[n] / quiet_ms);
    };
    for (std::size_t s = 0; s < steps.strata.size(); ++s)
        look_at(static_cast<int>(s), steps.strata[s].name, steps.strata[s].share);
    const std::size_t used = std::accumulate(steps.used.begin(), steps.used.end(), std::size_t{0});
    if (used > 0)
        look_at(LongSteps::accident, "outliers", static_cast<double>(steps.count()) / static_cast<double>(used));
    const std::vector<double> adjusted = base::holm(p);
    for (std::size_t i = 0; i < ways.size(); ++i) {
        Debt& debt = all[ways[i].noise];
        const base::Mean& percent = ways[i].percent;
        const bool is_first = debt.percent.degrees_of_freedom == 0.0;
        if (is_first || percent.interval(confidence).high > debt.percent.interval(confidence).high)
            debt.percent = percent;
        if (adjusted[i] > significant || percent.value <= debt.found_percent) continue;
        debt.found_percent = percent.value;
        debt.to = ways[i].to;
    }
    return all;
}

}  // namespace analysis
