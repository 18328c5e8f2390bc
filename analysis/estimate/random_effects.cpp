// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/random_effects.hpp"

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/fisher_f.hpp>
#include <boost/math/tools/roots.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace analysis {

namespace {

// Variance of an estimate, above zero: zero would be an infinite weight.
double variance_of(const Mean& estimate)
{
    const double least = 1e-9 * (1.0 + std::abs(estimate.value));
    return std::max(estimate.standard_error, least) * std::max(estimate.standard_error, least);
}

struct Weighted {
    double mean = 0.0;
    double weights = 0.0;
    double squares = 0.0;  // weighted squares around the mean
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

// The variance between runs at which the weighted squares have this value; 0 if they are smaller even without it.
double variance_between(std::span<const Mean> runs, double squares)
{
    const auto excess = [&](double variance) { return weighted(runs, variance).squares - squares; };
    if (excess(0.0) <= 0.0) return 0.0;
    double most = variance_of(runs.front());
    while (excess(most) > 0.0) most *= 4.0;
    std::uintmax_t rounds = 200;
    const auto [low, high] =
        boost::math::tools::toms748_solve(excess, 0.0, most, boost::math::tools::eps_tolerance<double>{40}, rounds);
    return (low + high) / 2.0;
}

struct Normal {
    double mean = 0.0;
    double deviation = 0.0;
};

// Quantile of a mixture of normal distributions with equal weights.
double quantile(const std::vector<Normal>& mixture, double probability)
{
    const auto excess = [&](double value) {
        double below = 0.0;
        for (const Normal& part : mixture)
            below += std::erfc((part.mean - value) / part.deviation / std::sqrt(2.0)) / 2.0;
        return below / static_cast<double>(mixture.size()) - probability;
    };
    constexpr double reach = 8.0;  // standard deviations that contain the whole distribution
    double low = mixture.front().mean;
    double high = low;
    for (const Normal& part : mixture) {
        low = std::min(low, part.mean - reach * part.deviation);
        high = std::max(high, part.mean + reach * part.deviation);
    }
    std::uintmax_t rounds = 200;
    const auto [from, until] =
        boost::math::tools::toms748_solve(excess, low, high, boost::math::tools::eps_tolerance<double>{30}, rounds);
    return (from + until) / 2.0;
}

// Combines bounds of rare events, and of other estimates that the data do not rule out, by these shares.
void take_bounds(Mean& mean, std::span<const Mean> parts, const std::function<double(std::size_t)>& share)
{
    const auto scaled = [](const base::RareEvents& events, double by) {
        return base::RareEvents{by * events.sum, by * by * events.variance, by * events.largest};
    };
    Mean::Alternative other;
    double variance = 0.0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double by = share(i);
        const Mean::Alternative& own = parts[i].or_else;
        mean.more.add(scaled(parts[i].more, by));
        mean.fewer.add(scaled(parts[i].fewer, by));
        other.any = other.any || own.any;
        other.value += by * (own.any ? own.value : parts[i].value);
        const double error = by * (own.any ? own.standard_error : parts[i].standard_error);
        variance += error * error;
        other.more.add(scaled(own.any ? own.more : parts[i].more, by));
        other.fewer.add(scaled(own.any ? own.fewer : parts[i].fewer, by));
    }
    other.standard_error = std::max(mean.standard_error, std::sqrt(variance));
    if (other.any) mean.or_else = other;
}

}  // namespace

std::optional<Interval> prediction(std::span<const Mean> runs, double confidence)
{
    constexpr int places = 400;  // number of quantiles of the squares' distribution
    if (runs.size() < 3) return std::nullopt;
    const boost::math::chi_squared squares{static_cast<double>(runs.size()) - 1.0};
    std::vector<Normal> mixture;
    for (int place = 0; place < places; ++place) {
        const double variance = variance_between(runs, boost::math::quantile(squares, (place + 0.5) / places));
        const Weighted all = weighted(runs, variance);
        mixture.push_back({all.mean, std::sqrt(variance + 1.0 / all.weights)});
    }
    return Interval{quantile(mixture, (1.0 - confidence) / 2.0), quantile(mixture, (1.0 + confidence) / 2.0)};
}

RandomEffects random_effects(std::span<const Mean> runs)
{
    const double freedom = static_cast<double>(runs.size()) - 1.0;
    const double variance = variance_between(runs, freedom);
    const Weighted all = weighted(runs, variance);
    RandomEffects found{{all.mean, std::sqrt(all.squares / freedom / all.weights), freedom}, std::sqrt(variance), {}};
    for (const Mean& run : runs) found.weights.push_back(1.0 / (variance_of(run) + variance) / all.weights);
    take_bounds(found.mean, runs, [&](std::size_t run) { return found.weights[run]; });
    return found;
}

Mean mean_of_runs(std::span<const Mean> runs, std::span<const double> weights)
{
    const double freedom = static_cast<double>(runs.size()) - 1.0;
    double mean = 0.0;
    for (std::size_t r = 0; r < runs.size(); ++r) mean += weights[r] * runs[r].value;
    double squares = 0.0;
    for (std::size_t r = 0; r < runs.size(); ++r)
        squares += weights[r] * (runs[r].value - mean) * (runs[r].value - mean);
    return {mean, std::sqrt(squares / freedom), freedom};
}

// The end of parts that were added because others were undecided was not planned with the first one.
Looks looks_together(std::span<const Looks> parts)
{
    if (parts.size() == 1) return parts.front();
    const bool any = std::any_of(parts.begin(), parts.end(), [](Looks part) { return part != Looks::none; });
    return any ? Looks::on_the_way : Looks::none;
}

Mean strata_mean(std::span<const Mean> parts, std::span<const double> weights)
{
    double sum = 0.0;
    for (const double weight : weights) sum += weight;
    Mean mean;
    double variance = 0.0;
    std::vector<base::VarianceTerm> terms;
    std::vector<Looks> looks;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const double share = weights[i] / sum;
        const double own = share * share * variance_of(parts[i]);
        mean.value += share * parts[i].value;
        variance += own;
        terms.push_back({own, parts[i].degrees_of_freedom});
        looks.push_back(parts[i].looks);
    }
    mean.looks = looks_together(looks);
    mean.standard_error = std::sqrt(variance);
    mean.degrees_of_freedom = base::joint_degrees_of_freedom(terms);
    take_bounds(mean, parts, [&](std::size_t part) { return weights[part] / sum; });
    return mean;
}

TakenTogether take_together(const std::vector<std::vector<Mean>>& parts,
                            const std::vector<std::vector<double>>& weights)
{
    TakenTogether all;
    for (std::size_t r = 0; r < parts.size(); ++r)
        all.runs.push_back(parts[r].size() == 1 ? parts[r].front() : strata_mean(parts[r], weights[r]));
    if (all.runs.size() > 1) all.between = random_effects(all.runs);
    all.mean = all.between ? all.between->mean : all.runs.front();
    return all;
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
