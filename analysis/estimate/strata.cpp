#include "analysis/estimate/strata.hpp"

#include "base/contract/roles.hpp"

#include <algorithm>

namespace analysis {

namespace {

constexpr int rounds_of_shares = 4;

Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver_of(const StratumSums& stratum)
{
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver;
    solver.setThreshold(1e-9);
    solver.compute(stratum.gram);
    return solver;
}

Eigen::VectorXd least_squares(const StratumSums& stratum, Eigen::Index measure)
{
    return solver_of(stratum).solve(stratum.sum.col(measure));
}

}  // namespace

void StratumSums::add(const Eigen::VectorXd& part, const Eigen::RowVectorXd& beyond)
{
    count += part;
    sum += part * beyond;
    squares += part * beyond.cwiseAbs2();
    gram += part * part.transpose();
}

StratumSums no_sums(const StepStratum& stratum, const LongSteps& steps, Eigen::Index measures)
{
    const auto treatments = static_cast<Eigen::Index>(steps.used.size());
    StratumSums none{Eigen::VectorXd::Constant(treatments, stratum.share),
                     Eigen::VectorXd::Zero(treatments),
                     false,
                     Eigen::VectorXd::Zero(treatments),
                     Eigen::MatrixXd::Zero(treatments, measures),
                     Eigen::MatrixXd::Zero(treatments, measures),
                     Eigen::MatrixXd::Zero(treatments, treatments)};
    for (std::size_t t = 0; t < stratum.share_under.size(); ++t) {
        const double share = stratum.share_under[t];
        none.share[static_cast<Eigen::Index>(t)] = share;
        none.share_variance[static_cast<Eigen::Index>(t)] =
            share * (1.0 - share) / std::max(1.0, static_cast<double>(steps.used[t]));
    }
    return none;
}

Eigen::VectorXd met(const Overlaps& overlaps, const Experiment& plan)
{
    Eigen::VectorXd shares = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(plan.treatments.size()));
    for (const Overlap& overlap : overlaps) {
        const std::size_t treatment = plan.treatment_of[overlap.slot];
        const std::vector<Assigned>& on = plan.treatments[treatment].on;
        const bool is_control =
            std::any_of(on.begin(), on.end(), [](const Assigned& one) { return base::is_control(one.role); });
        shares[is_control ? 0 : static_cast<Eigen::Index>(treatment)] += overlap.share;
    }
    shares[0] += 1.0 - shares.sum();
    return shares;
}

StratumSums share_work(const StratumSums& none, const std::vector<Straddling>& steps,
                       const Eigen::VectorXd& ordinary_ms)
{
    Eigen::VectorXd pace = Eigen::VectorXd::Ones(ordinary_ms.size());
    StratumSums sums = none;
    for (int round = 0; round < rounds_of_shares; ++round) {
        sums = none;
        sums.shared = true;
        for (const Straddling& step : steps) {
            const Eigen::VectorXd work = step.time.cwiseQuotient(pace);
            sums.add(work / work.sum(), step.beyond);
        }
        pace = ordinary_ms + least_squares(sums, 0);
        pace = pace.cwiseMax(pace.maxCoeff() * 0.05);
    }
    return sums;
}

namespace {

StratumMean mean_of_shared(const StratumSums& stratum, Eigen::Index measure)
{
    const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver = solver_of(stratum);
    StratumMean found{solver.solve(stratum.sum.col(measure)), {}};
    const double squares = stratum.squares.col(measure).sum() - found.mean.dot(stratum.sum.col(measure));
    found.degrees_of_freedom = std::max(1.0, stratum.count.sum() - static_cast<double>(solver.rank()));
    const Eigen::MatrixXd inverse = solver.solve(Eigen::MatrixXd::Identity(stratum.gram.rows(), stratum.gram.cols()));
    found.residual_variance = std::max(0.0, squares) / found.degrees_of_freedom;
    found.variance = found.residual_variance * inverse.diagonal().cwiseMax(0.0);
    return found;
}

}  // namespace

StratumMean mean_of(const StratumSums& stratum, Eigen::Index measure)
{
    if (stratum.shared) return mean_of_shared(stratum, measure);
    const Eigen::Index treatments = stratum.count.size();
    StratumMean found{Eigen::VectorXd::Zero(treatments), Eigen::VectorXd::Zero(treatments)};
    Eigen::VectorXd squares = Eigen::VectorXd::Zero(treatments);
    double all_squares = 0.0;
    double degrees = 0.0;
    for (Eigen::Index t = 0; t < treatments; ++t) {
        const double count = stratum.count[t];
        if (count == 0.0) continue;
        found.mean[t] = stratum.sum(t, measure) / count;
        squares[t] = std::max(0.0, stratum.squares(t, measure) - count * found.mean[t] * found.mean[t]);
        all_squares += squares[t];
        degrees += count - 1.0;
    }
    found.degrees_of_freedom = std::max(1.0, degrees);
    found.residual_variance = all_squares / found.degrees_of_freedom;
    for (Eigen::Index t = 0; t < treatments; ++t) {
        const double count = stratum.count[t];
        if (count == 0.0) continue;
        const double own = count > 1.0 ? squares[t] / (count - 1.0) : 0.0;
        found.variance[t] = std::max(own, found.residual_variance) / count;
    }
    return found;
}

const StratumSums& that_explains_more(const StratumSums& by_begin, const StratumSums& met)
{
    return mean_of(by_begin, 0).residual_variance < mean_of(met, 0).residual_variance ? by_begin : met;
}

}  // namespace analysis
