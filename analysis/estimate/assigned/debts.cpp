// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/assigned/debts.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

// The steps of a stratum: their excess time, and what came before.
struct Members {
    std::vector<double> excess_ms;
    std::vector<std::size_t> treatment;
    std::vector<Eigen::VectorXd> since;        // [noise]: number of steps beside it since the previous member
    std::vector<Eigen::VectorXd> slot_before;  // [noise]: 1 if it was on in the previous slot
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

Members members_of(std::size_t stratum, const Measures& step_ms, const Exposures& exposures, const Experiment& plan,
                   const LongSteps& steps, const std::vector<Assigned>& noises)
{
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(noises.size()));
    Members members;
    Eigen::VectorXd since = none;
    bool is_first = true;
    for (std::size_t i = 0; i < steps.kind.size(); ++i) {
        if (exposures.slot[i] == no_slot) continue;
        const std::size_t treatment = treatment_of(exposures, plan, i);
        if (steps.kind[i] == static_cast<std::int8_t>(stratum)) {
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

// [noise]: increase of a member's time, in ms, for each unit of `before`; empty if there are too few members, or they
// do not separate the noises.
std::vector<base::Mean> slopes(const Members& members, const std::vector<Eigen::VectorXd>& before,
                               std::size_t treatments)
{
    if (before.empty()) return {};
    const auto rows = static_cast<Eigen::Index>(before.size());
    const Eigen::Index noises = before.front().size();
    std::vector<Eigen::Index> column(treatments, -1);
    Eigen::Index columns = noises;
    for (const std::size_t treatment : members.treatment)
        if (column[treatment] < 0) column[treatment] = columns++;
    const Eigen::Index degrees = rows - columns;
    if (degrees < 3) return {};
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
    if (solver.rank() < columns) return {};
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
        std::size_t stratum;
        std::size_t noise;
        base::Mean percent;
    };
    std::vector<Way> ways;
    std::vector<double> p;
    const auto add = [&](std::size_t stratum, const std::vector<base::Mean>& ms, double to_percent) {
        for (std::size_t n = 0; n < ms.size(); ++n) {
            const base::Mean percent{to_percent * ms[n].value, to_percent * ms[n].standard_error,
                                     ms[n].degrees_of_freedom};
            const double two_sided = percent.standard_error > 0.0 ? percent.p_value() : 1.0;
            ways.push_back({stratum, n, percent});
            p.push_back(percent.value > 0.0 ? two_sided / 2.0 : 1.0 - two_sided / 2.0);
        }
    };
    for (std::size_t s = 0; s < steps.strata.size(); ++s) {
        const Members members = members_of(s, step_ms, exposures, plan, steps, noises);
        add(s, slopes(members, members.since, plan.treatments.size()), 100.0 / quiet_ms);
        add(s, slopes(members, members.slot_before, plan.treatments.size()), 100.0 * steps.strata[s].share / quiet_ms);
    }
    const std::vector<double> adjusted = base::holm(p);
    std::vector<Debt> all(noises.size());
    for (std::size_t i = 0; i < ways.size(); ++i) {
        Debt& debt = all[ways[i].noise];
        const base::Mean& percent = ways[i].percent;
        const bool is_first = debt.percent.degrees_of_freedom == 0.0;
        if (is_first || percent.interval(confidence).high > debt.percent.interval(confidence).high)
            debt.percent = percent;
        if (adjusted[i] > significant || percent.value <= debt.found_percent) continue;
        debt.found_percent = percent.value;
        debt.to = steps.strata[ways[i].stratum].name;
    }
    return all;
}

}  // namespace analysis
