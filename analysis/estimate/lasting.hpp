// SPDX-License-Identifier: Apache-2.0
// The means model with carry-over: see Lasting.
#pragma once

#include "analysis/estimate/fit.hpp"

#include <optional>

namespace analysis {

// The noises of a schedule, in the order of its treatments.
std::vector<Assigned> noises_of(const Experiment& plan);

// Slots x noises: the share of slots with the noise among those of its window before the slot. The first slot has none.
Eigen::MatrixXd noise_before(const Experiment& plan, const std::vector<Assigned>& noises,
                             const std::vector<int>& windows);

// Fits the model to ordinary steps. windows[noise]: number of slots that the noise may last; empty: one slot. None
// where the order of slots does not separate carry-over from effects, with fewer than three blocks, or without a noise.
std::optional<Lasting> lasting_of(const Fit& fit, const Series& series, const StepsOf& of, std::vector<int> windows);

}  // namespace analysis
