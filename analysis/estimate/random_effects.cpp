#include "analysis/estimate/random_effects.hpp"

#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/tools/roots.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

namespace analysis {

namespace {

// An error of zero would be an infinite weight.
double variance_of(const Mean& estimate)
{
    const double least = 1e-9 * (1.0 + std::abs(estimate.value));
    return std::max(estimate.standard_error, least) * std::max(estimate.standard_error, least);
}

struct Weighted {
    double mean = 0.0;
    double weights = 0.0;
    double squares = 0.0;  // weighted, about the mean
};

Weighted weighted(std::span<const Mean> runs, double variance_between)
{
    Weighted all;
    for (const Mean& run : runs) {
        const double weight = 1.0 / (variance_of(run) + variance_between);
        all.weights += weight;
        all.mean += weight * run.value;
    }
    all.mean /= all.weights;
    for (const Mean& run : runs) {
        const double off = run.value - all.mean;
        all.squares += off * off / (variance_of(run) + variance_between);
    }
    return all;
}

// Paule and Mandel (1982): the variance between runs with which the weighted squares are what is expected of them.
double variance_between(std::span<const Mean> runs)
{
    const double expected = static_cast<double>(runs.size()) - 1.0;
    const auto excess = [&](double variance) { return weighted(runs, variance).squares - expected; };
    if (excess(0.0) <= 0.0) return 0.0;
    double most = variance_of(runs.front());
    while (excess(most) > 0.0) most *= 4.0;
    std::uintmax_t rounds = 200;
    const auto [low, high] =
        boost::math::tools::toms748_solve(excess, 0.0, most, boost::math::tools::eps_tolerance<double>{40}, rounds);
    return (low + high) / 2.0;
}

}  // namespace

std::optional<Interval> RandomEffects::prediction(double confidence) const
{
    if (mean.degrees_of_freedom < 2.0) return std::nullopt;
    const double half =
        t_quantile(confidence, mean.degrees_of_freedom - 1.0) * std::hypot(between, mean.standard_error);
    return Interval{mean.value - half, mean.value + half};
}

RandomEffects random_effects(std::span<const Mean> runs)
{
    const double variance = variance_between(runs);
    const Weighted all = weighted(runs, variance);
    const double freedom = static_cast<double>(runs.size()) - 1.0;
    return {{all.mean, std::sqrt(all.squares / freedom / all.weights), freedom}, std::sqrt(variance)};
}

Mean strata_mean(std::span<const Mean> parts, std::span<const double> weights)
{
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    Mean mean;
    double variance = 0.0;
    double spread = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double share = weights[i] / sum;
        const double own = share * share * variance_of(parts[i]);
        mean.value += share * parts[i].value;
        mean.looked_at = mean.looked_at || parts[i].looked_at;
        variance += own;
        spread += own * own / parts[i].degrees_of_freedom;
    }
    mean.standard_error = std::sqrt(variance);
    mean.degrees_of_freedom = variance * variance / spread;
    return mean;
}

double p_alike(std::span<const Mean> estimates)
{
    if (estimates.size() < 2) return 1.0;
    const auto count = static_cast<double>(estimates.size());
    const Weighted all = weighted(estimates, 0.0);
    double lack = 0.0;
    for (const Mean& estimate : estimates) {
        const double rest = 1.0 - 1.0 / variance_of(estimate) / all.weights;
        lack += rest * rest / estimate.degrees_of_freedom;
    }
    const double squared = count * count - 1.0;
    const double f = all.squares / (count - 1.0) / (1.0 + 2.0 * (count - 2.0) / squared * lack);
    if (!std::isfinite(f)) return 0.0;
    const boost::math::fisher_f distribution{count - 1.0, squared / (3.0 * lack)};
    return boost::math::cdf(boost::math::complement(distribution, f));
}

}  // namespace analysis
