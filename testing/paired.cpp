// SPDX-License-Identifier: Apache-2.0
#include "testing/paired.hpp"

#include "base/error.hpp"
#include "base/system/environment.hpp"

#include <boost/math/distributions/binomial.hpp>

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace testing {

namespace {

// Returns the largest k with P(Binomial(n, 1/2) < k) <= 2.5 %: the k-th smallest and the k-th largest sample bound the
// 95 % confidence interval of the median.
std::size_t interval_rank(std::size_t samples)
{
    const boost::math::binomial_distribution<> successes{static_cast<double>(samples), 0.5};
    std::size_t rank = 0;
    while (cdf(successes, static_cast<double>(rank)) <= 0.025) ++rank;
    return rank;
}

}  // namespace

std::string Median::text() const
{
    std::ostringstream out;
    out << std::setprecision(4) << value << " [" << low << ", " << high << "] of " << samples;
    return out.str();
}

Median median(std::vector<double> samples)
{
    const std::size_t count = samples.size();
    const std::size_t rank = count == 0 ? 0 : interval_rank(count);
    if (rank == 0) base::fail("a median with an interval needs at least 6 samples, not ", count);
    std::ranges::sort(samples);
    return {.value = (samples[(count - 1) / 2] + samples[count / 2]) / 2.0,
            .low = samples[rank - 1],
            .high = samples[count - rank],
            .samples = count};
}

std::size_t rounds(std::size_t full)
{
    constexpr std::size_t fewest = 6;
    return base::environment("CROSSTALK_BENCH_QUICK") ? std::min(full, fewest) : full;
}

Paired paired(const std::vector<double>& firsts, const std::vector<double>& seconds)
{
    std::vector<double> ratios;
    for (std::size_t pair = 0; pair < firsts.size(); ++pair) ratios.push_back(firsts[pair] / seconds.at(pair));
    return {.first = median(firsts), .second = median(seconds), .ratio = median(ratios)};
}

Paired measure_in_pairs(std::size_t pairs, const std::function<double()>& first, const std::function<double()>& second)
{
    first();
    second();
    std::vector<double> firsts;
    std::vector<double> seconds;
    pairs = rounds(pairs);
    for (std::size_t pair = 0; pair < pairs; ++pair) {
        const bool first_goes_first = pair % 2 == 0;
        double cost_of_second = first_goes_first ? 0.0 : second();
        firsts.push_back(first());
        if (first_goes_first) cost_of_second = second();
        seconds.push_back(cost_of_second);
    }
    return paired(firsts, seconds);
}

}  // namespace testing
