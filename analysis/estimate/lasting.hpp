// SPDX-License-Identifier: Apache-2.0
// The means that let a noise last into the next slot: see Lasting.
#pragma once

#include "analysis/estimate/fit.hpp"

#include <optional>

namespace analysis {

// The noises of a schedule, in the order of its treatments.
std::vector<Assigned> noises_of(const Experiment& plan);

// Slots x noises: the share of the slots in the noise's window before that have it. Before the first one there is none.
Eigen::MatrixXd noise_before(const Experiment& plan, const std::vector<Assigned>& noises,
                             const std::vector<int>& windows);

// From ordinary steps; windows[noise]: for so many slots it may last; empty: for one. None where the order of slots
// does not separate what is left from what is on, with fewer than three blocks, and without a noise.
std::optional<Lasting> lasting_of(const Fit& fit, const Series& series, const StepsOf& of, std::vector<int> windows);

}  // namespace analysis
