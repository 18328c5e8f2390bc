// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/trend.hpp"

#include <cmath>
#include <numeric>

namespace analysis {

std::optional<Mean> slope(std::span<const double> x, std::span<const double> y)
{
    const auto n = static_cast<double>(x.size());
    if (x.size() < 3 || x.size() != y.size()) return std::nullopt;
    const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n;
    const double mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
    double xx = 0.0;
    double xy = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    if (xx <= 0.0) return std::nullopt;
    const double value = xy / xx;
    double left = 0.0;  // residual sum of squares
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double off = y[i] - mean_y - value * (x[i] - mean_x);
        left += off * off;
    }
    return Mean{.value = value, .standard_error = std::sqrt(left / (n - 2.0) / xx), .degrees_of_freedom = n - 2.0};
}

}  // namespace analysis
