// SPDX-License-Identifier: Apache-2.0
// The statistics of base for Eigen's vectors.
#pragma once

#include "base/statistics.hpp"

#include <Eigen/Dense>

namespace analysis {

using base::benjamini_hochberg;
using base::holm;
using base::Interval;
using base::Looks;
using base::Mean;
using base::median;
using base::t_quantile;
using base::t_test_p;

// Mean of two or more independent values (blocks, runs).
inline Mean mean_of(const Eigen::VectorXd& values)
{
    return base::mean_of({values.data(), static_cast<std::size_t>(values.size())});
}

}  // namespace analysis
