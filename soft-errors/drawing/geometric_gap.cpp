// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/drawing/geometric_gap.hpp"

namespace soft_errors {

GeometricGap::GeometricGap(double rate)
{
    // volatile: a fused multiply-add would differ between machines.
    std::array<volatile double, 63> powers{};
    powers.front() = 1.0 - rate;
    for (std::size_t k = 1; k < powers.size(); ++k) {
        const double root = powers.at(k - 1);
        powers.at(k) = root * root;
    }
    for (std::size_t k = 0; k < powers.size(); ++k) {
        const double power = powers.at(k);
        likely_.at(k) = power / (1.0 + power);
    }
}

std::uint64_t GeometricGap::operator()(base::Random& random) const
{
    std::uint64_t gap = 0;
    for (std::size_t k = 0; k < likely_.size(); ++k)
        if (likely_[k] > 0.0 && base::draw_unit(random) < likely_[k]) gap |= std::uint64_t{1} << k;
    return gap;
}

}  // namespace soft_errors
