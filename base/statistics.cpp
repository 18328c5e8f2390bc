// SPDX-License-Identifier: Apache-2.0
#include "base/statistics.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace base {

namespace {

constexpr double mixture = 0.6;  // rho of the confidence sequence, chosen by simulations: docs/statistics.md

// The p-value: the level at which sequence_half_width() reaches zero from the mean.
double sequence_p(double t, double count)
{
    const double grown = count * mixture * mixture;
    return std::min(1.0, std::sqrt(grown + 1.0) * std::exp(-t * t * grown / (2.0 * (grown + 1.0))));
}

// The confidence of a look if the error probability is spent on looks before the end, and the one there, in halves.
double of_one_half(double confidence)
{
    return (1.0 + confidence) / 2.0;
}

Interval own_interval(const Mean& mean, double together)
{
    const double confidence = mean.looks == Looks::none ? together : of_one_half(together);
    const auto half = [&](double error) {
        return mean.looks == Looks::on_the_way ? sequence_half_width(error, mean.degrees_of_freedom + 1.0, confidence)
                                               : t_quantile(confidence, mean.degrees_of_freedom) * error;
    };
    const double symmetric = half(mean.standard_error);
    const RareEvents& more = mean.more;
    const RareEvents& fewer = mean.fewer;
    if (more.largest <= 0.0 && fewer.largest <= 0.0) return {mean.value - symmetric, mean.value + symmetric};
    const double of_events = more.variance + fewer.variance;
    const double steady = half(std::sqrt(std::max(0.0, mean.standard_error * mean.standard_error - of_events)));
    const Interval above = more.interval(confidence);
    const Interval below = fewer.interval(confidence);
    double low = std::hypot(steady, more.sum - above.low, below.high - fewer.sum);
    double high = std::hypot(steady, above.high - more.sum, fewer.sum - below.low);
    if (mean.looks == Looks::on_the_way) {
        low = std::max(low, symmetric);
        high = std::max(high, symmetric);
    }
    return {mean.value - low, mean.value + high};
}

}  // namespace

void RareEvents::add(const RareEvents& other)
{
    sum += other.sum;
    variance += other.variance;
    largest = std::max(largest, other.largest);
}

Interval RareEvents::interval(double confidence) const
{
    const double outside = (1.0 - confidence) / 2.0;
    const auto quantile = [](double mean, double spread, double share) {
        if (mean <= 0.0 || spread <= 0.0) return 0.0;
        return spread / (2.0 * mean) *
               boost::math::quantile(boost::math::chi_squared{2.0 * mean * mean / spread}, share);
    };
    return {quantile(sum, variance, outside), quantile(sum + largest, variance + largest * largest, 1.0 - outside)};
}

Interval Mean::interval(double confidence) const
{
    const Interval own = own_interval(*this, confidence);
    if (!or_else.any) return own;
    const Interval other = own_interval(
        {or_else.value, or_else.standard_error, degrees_of_freedom, looks, or_else.more, or_else.fewer}, confidence);
    return {std::min(own.low, other.low), std::max(own.high, other.high)};
}

double Mean::p_value() const
{
    if (standard_error == 0.0) return value == 0.0 ? 1.0 : 0.0;
    const double t = value / standard_error;
    if (looks == Looks::on_the_way) return std::min(1.0, 2.0 * sequence_p(t, degrees_of_freedom + 1.0));
    const double once = t_test_p(t, degrees_of_freedom);
    return looks == Looks::none ? once : std::min(1.0, 2.0 * once);
}

Mean mean_of(std::span<const double> values)
{
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0.0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return {mean, std::sqrt(squares / (count - 1.0) / count), count - 1.0};
}

double joint_degrees_of_freedom(const std::vector<VarianceTerm>& terms)
{
    double variance = 0.0;
    double spread = 0.0;
    for (const VarianceTerm& term : terms) {
        variance += term.variance;
        spread += term.variance * term.variance / term.degrees_of_freedom;
    }
    return variance * variance / spread;
}

double median(std::vector<double> values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2.0;
}

double t_quantile(double confidence, double degrees_of_freedom)
{
    const boost::math::students_t distribution{degrees_of_freedom};
    return boost::math::quantile(boost::math::complement(distribution, (1.0 - confidence) / 2.0));
}

double t_test_p(double t, double degrees_of_freedom)
{
    if (!std::isfinite(t)) return 0.0;
    const boost::math::students_t distribution{degrees_of_freedom};
    return 2.0 * boost::math::cdf(boost::math::complement(distribution, std::abs(t)));
}

double sequence_half_width(double standard_error, double count, double confidence)
{
    const double grown = count * mixture * mixture;
    const double alpha = 1.0 - confidence;
    return standard_error * std::sqrt(2.0 * (grown + 1.0) / grown * std::log(std::sqrt(grown + 1.0) / alpha));
}

std::vector<double> holm(const std::vector<double>& p)
{
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
    std::vector<double> adjusted(p.size());
    double largest = 0.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        largest = std::max(largest, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
        adjusted[order[i]] = largest;
    }
    return adjusted;
}

std::vector<double> benjamini_hochberg(const std::vector<double>& p)
{
    std::vector<std::size_t> order(p.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    std::vector<double> adjusted(p.size());
    double smallest = 1.0;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const auto rank = static_cast<double>(p.size() - i);
        smallest = std::min(smallest, p[order[i]] * static_cast<double>(p.size()) / rank);
        adjusted[order[i]] = smallest;
    }
    return adjusted;
}

Interval wilson(double count, double trials, double confidence)
{
    if (trials <= 0.0) return {0.0, 1.0};
    const double z = boost::math::quantile(boost::math::complement(boost::math::normal{}, (1.0 - confidence) / 2.0));
    const double p = count / trials;
    const double centre = (p + z * z / (2.0 * trials)) / (1.0 + z * z / trials);
    const double half =
        z / (1.0 + z * z / trials) * std::sqrt(p * (1.0 - p) / trials + z * z / (4.0 * trials * trials));
    return {count <= 0.0 ? 0.0 : std::max(0.0, centre - half), count >= trials ? 1.0 : std::min(1.0, centre + half)};
}

Interval clopper_pearson(double count, double trials, double confidence)
{
    if (trials <= 0.0) return {0.0, 1.0};
    const double alpha = (1.0 - confidence) / 2.0;
    return {count <= 0.0 ? 0.0 : boost::math::ibeta_inv(count, trials - count + 1.0, alpha),
            count >= trials ? 1.0 : boost::math::ibetac_inv(count + 1.0, trials - count, alpha)};
}

std::int64_t trials_for_half_width(double half_width, double confidence)
{
    const double z = boost::math::quantile(boost::math::complement(boost::math::normal{}, (1.0 - confidence) / 2.0));
    return static_cast<std::int64_t>(std::ceil(z * z / (4.0 * half_width * half_width) - z * z));  // widest at p = 1/2
}

double mcnemar_p(std::int64_t only_first, std::int64_t only_second)
{
    const std::int64_t differing = only_first + only_second;
    if (differing == 0) return 1.0;
    const boost::math::binomial even{static_cast<double>(differing), 0.5};
    return std::min(1.0, 2.0 * boost::math::cdf(even, static_cast<double>(std::min(only_first, only_second))));
}

std::optional<std::int64_t> mcnemar_least_difference(std::int64_t differing, double alpha)
{
    for (std::int64_t fewer = differing / 2; fewer >= 0; --fewer)
        if (mcnemar_p(fewer, differing - fewer) <= alpha) return differing - 2 * fewer;
    return std::nullopt;
}

std::vector<double> isotonic(std::span<const double> values, std::span<const double> weights)
{
    struct Pool {
        double sum;  // weighted sum
        double weight;
        std::size_t count;
        double mean() const { return sum / weight; }
    };
    std::vector<Pool> pools;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const double weight = weights.empty() ? 1.0 : weights[i];
        pools.push_back({weight * values[i], weight, 1});
        while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
            const Pool last = pools.back();
            pools.pop_back();
            pools.back().sum += last.sum;
            pools.back().weight += last.weight;
            pools.back().count += last.count;
        }
    }
    std::vector<double> fitted;
    for (const Pool& pool : pools) fitted.insert(fitted.end(), pool.count, pool.mean());
    return fitted;
}

}  // namespace base
