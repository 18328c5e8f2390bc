// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/codes/product_code.hpp"

#include "base/error.hpp"
#include "ddl-workloads/codes/strength.hpp"

#include <cmath>
#include <complex>
#include <numbers>

namespace ddl {

namespace {

using Complex = std::complex<double>;

Complex point(Points points, int ranks, int rank)
{
    constexpr double pi = std::numbers::pi;
    if (points == Points::chebyshev) return std::cos((2.0 * rank + 1.0) * pi / (2.0 * ranks));
    return std::polar(1.0, 2.0 * pi * rank / ranks);
}

int rows_of(Points points)
{
    return points == Points::roots ? 2 : 1;
}

// x^power at the point of each rank.
class Powers {
 public:
    Powers(Points points, int ranks) : points_{points}, ranks_{ranks} {}

    Matrix of(const std::vector<int>& powers) const
    {
        const int rows = rows_of(points_);
        Matrix values{ranks_ * rows, std::ssize(powers)};
        for (int rank = 0; rank < ranks_; ++rank)
            for (int column = 0; column < values.cols(); ++column) {
                const Complex value = std::pow(point(points_, ranks_, rank), powers[static_cast<std::size_t>(column)]);
                values(rank * rows, column) = value.real();
                if (rows == 2) values(rank * rows + 1, column) = value.imag();
            }
        return values;
    }

 private:
    Points points_;
    int ranks_;
};

}  // namespace

int polydot_threshold(int t, int s, int u)
{
    return s * t * u + s - 1;
}

int polydot_forward_threshold(int m, int n)
{
    return m * n + n - 1;
}

int polydot_backward_threshold(int m, int n)
{
    return 2 * m * n - n;
}

Matrix evaluations(int coefficients, int ranks, Points points)
{
    std::vector<int> powers;
    for (int power = 0; power < coefficients; ++power) powers.push_back(power);
    return Powers{points, ranks}.of(powers);
}

ProductCode polydot(int t, int s, int u, int ranks, Points points)
{
    const Powers powers{points, ranks};
    std::vector<int> left;
    for (int i = 0; i < t; ++i)
        for (int j = 0; j < s; ++j) left.push_back(j + i * s);
    std::vector<int> right;
    for (int j = 0; j < s; ++j)
        for (int k = 0; k < u; ++k) right.push_back(s - 1 - j + k * s * t);
    ProductCode code{.t = t,
                     .s = s,
                     .u = u,
                     .points = points,
                     .rows_per_symbol = rows_of(points),
                     .left = powers.of(left),
                     .right = powers.of(right),
                     .symbols = evaluations(polydot_threshold(t, s, u), ranks, points)};
    for (int i = 0; i < t; ++i)
        for (int k = 0; k < u; ++k) code.outputs.push_back(s - 1 + i * s + k * s * t);
    return code;
}

void check_single_precision(const ProductCode& code)
{
    const double condition = worst_condition(code.symbols, code.rows_per_symbol).largest;
    if (condition <= largest_single_condition) return;
    base::fail_usage("this code has the condition number ", condition, ", more than the ", largest_single_condition,
                     " that single precision can decode; use fewer blocks, or points=roots");
}

}  // namespace ddl
