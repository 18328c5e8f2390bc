#include "analysis/estimate/debts.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

// A stratum's steps: how long they take beyond ordinary ones, and what came before.
struct Members {
    std::vector<double> excess_ms;
    std::vector<std::size_t> treatment;
    std::vector<Eigen::VectorXd> since;  // [noise]: steps under it since the member before
};

bool has(const Treatment& treatment, const CarryOver& noise)
{
    return std::any_of(treatment.on.begin(), treatment.on.end(),
                       [&](const Assigned& on) { return on.factor == noise.factor && on.level == noise.level; });
}

Members members_of(std::size_t stratum, const Measures& step_ms, const StepsOf& steps,
                   const std::vector<CarryOver>& noises)
{
    const auto count = static_cast<Eigen::Index>(noises.size());
    Members members;
    Eigen::VectorXd since = Eigen::VectorXd::Zero(count);
    bool is_first = true;
    for (std::size_t i = 0; i < steps.block.size(); ++i) {
        if (steps.exposures.slot[i] == no_slot) continue;
        const std::size_t treatment = treatment_of(steps.exposures, steps.plan, i);
        if (steps.long_steps.kind[i] == static_cast<std::int8_t>(stratum)) {
            if (!is_first) {
                members.excess_ms.push_back((1.0 - steps.long_steps.regular[i]) * step_ms.first(i));
                members.treatment.push_back(treatment);
                members.since.push_back(since);
            }
            is_first = false;
            since.setZero();
        }
        for (Eigen::Index n = 0; n < count; ++n)
            if (has(steps.plan.treatments[treatment], noises[static_cast<std::size_t>(n)])) since[n] += 1.0;
    }
    return members;
}

struct Debt {
    double ms = 0.0;  // that a step under the noise adds
    double p = 1.0;   // one-sided
};

// [noise]; empty where the members are too few, or do not tell the noises apart.
std::vector<Debt> debts_of(const Members& members, std::size_t treatments, std::size_t noises)
{
    const auto rows = static_cast<Eigen::Index>(members.excess_ms.size());
    const auto count = static_cast<Eigen::Index>(noises);
    std::vector<Eigen::Index> column(treatments, -1);
    Eigen::Index columns = count;
    for (const std::size_t treatment : members.treatment)
        if (column[treatment] < 0) column[treatment] = columns++;
    const Eigen::Index degrees = rows - columns;
    if (degrees < 3) return {};
    Eigen::MatrixXd x = Eigen::MatrixXd::Zero(rows, columns);
    Eigen::VectorXd y(rows);
    for (Eigen::Index i = 0; i < rows; ++i) {
        const auto member = static_cast<std::size_t>(i);
        x.row(i).head(count) = members.since[member].transpose();
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
    std::vector<Debt> debts;
    for (Eigen::Index n = 0; n < count; ++n) {
        const double error = std::sqrt(variance * inverse(n, n));
        const double two_sided = error > 0.0 ? t_test_p(found[n] / error, static_cast<double>(degrees)) : 1.0;
        debts.push_back({found[n], found[n] > 0.0 ? two_sided / 2.0 : 1.0 - two_sided / 2.0});
    }
    return debts;
}

}  // namespace

void look_for_debts(const Measures& step_ms, const StepsOf& steps, double quiet_ms, std::vector<CarryOver>& all)
{
    constexpr double significant = 0.01;
    struct Found {
        std::size_t stratum;
        std::size_t noise;
        double ms;
    };
    std::vector<Found> found;
    std::vector<double> p;
    for (std::size_t s = 0; s < steps.long_steps.strata.size(); ++s) {
        const std::vector<Debt> debts =
            debts_of(members_of(s, step_ms, steps, all), steps.plan.treatments.size(), all.size());
        for (std::size_t n = 0; n < debts.size(); ++n) {
            found.push_back({s, n, debts[n].ms});
            p.push_back(debts[n].p);
        }
    }
    const std::vector<double> adjusted = holm(p);
    for (std::size_t i = 0; i < found.size(); ++i) {
        CarryOver& noise = all[found[i].noise];
        const double percent = 100.0 * found[i].ms / quiet_ms;
        if (adjusted[i] > significant || percent <= noise.debt_percent) continue;
        noise.debt_percent = percent;
        noise.debt_to = steps.long_steps.strata[found[i].stratum].name;
    }
}

}  // namespace analysis
