// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/sets/two_samples.hpp"

#include <boost/math/distributions/normal.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace analysis {

namespace {

constexpr Eigen::Index most_exact = 20;  // values per side

}  // namespace

Mean welch(const Eigen::VectorXd& from, const Eigen::VectorXd& to)
{
    const Mean a = mean_of(from);
    const Mean b = mean_of(to);
    const double variance_a = a.standard_error * a.standard_error;
    const double variance_b = b.standard_error * b.standard_error;
    const double variance = variance_a + variance_b;
    const double degrees =
        variance == 0.0
            ? a.degrees_of_freedom + b.degrees_of_freedom
            : base::joint_degrees_of_freedom({{variance_a, a.degrees_of_freedom}, {variance_b, b.degrees_of_freedom}});
    return {b.value - a.value, std::sqrt(variance), degrees};
}

double mann_whitney_p(const Eigen::VectorXd& a, const Eigen::VectorXd& b)
{
    double u = 0.0;
    bool ties = false;
    for (const double x : a)
        for (const double y : b) {
            u += x < y ? 1.0 : x == y ? 0.5 : 0.0;
            ties = ties || x == y;
        }
    const double pairs = static_cast<double>(a.size()) * static_cast<double>(b.size());
    const double extreme = std::max(u, pairs - u);
    if (ties || a.size() > most_exact || b.size() > most_exact) {
        const double deviation = std::sqrt(pairs * static_cast<double>(a.size() + b.size() + 1) / 12.0);
        const double z = std::max(0.0, extreme - pairs / 2.0 - 0.5) / deviation;
        return std::min(1.0, 2.0 * boost::math::cdf(boost::math::complement(boost::math::normal{}, z)));
    }
    // count[i][j][k]: number of orders of i values of a and j values of b in which k pairs have a before b. The last
    // value of an order is either of a, which adds no pair, or of b, which adds i pairs.
    const auto n = static_cast<std::size_t>(a.size());
    const auto size = static_cast<std::size_t>(pairs) + 1;
    std::vector<std::vector<std::vector<double>>> count(
        n + 1,
        std::vector<std::vector<double>>(static_cast<std::size_t>(b.size()) + 1, std::vector<double>(size, 0.0)));
    for (std::size_t i = 0; i <= n; ++i)
        for (std::size_t j = 0; j <= static_cast<std::size_t>(b.size()); ++j) {
            if (i == 0 || j == 0) {
                count[i][j][0] = 1.0;
                continue;
            }
            for (std::size_t k = 0; k < size; ++k)
                count[i][j][k] = count[i - 1][j][k] + (k >= i ? count[i][j - 1][k - i] : 0.0);
        }
    const std::vector<double>& orders = count[n][static_cast<std::size_t>(b.size())];
    double all = 0.0;
    double tail = 0.0;
    for (std::size_t k = 0; k < size; ++k) {
        all += orders[k];
        if (static_cast<double>(k) >= extreme) tail += orders[k];
    }
    return std::min(1.0, 2.0 * tail / all);
}

double hodges_lehmann(const Eigen::VectorXd& from, const Eigen::VectorXd& to)
{
    std::vector<double> differences;
    for (const double a : from)
        for (const double b : to) differences.push_back(b - a);
    return median(std::move(differences));
}

}  // namespace analysis
