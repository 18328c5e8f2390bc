// The means that let a noise last into the next slot: see Lasting.
#pragma once

#include "analysis/estimate/estimator.hpp"

#include <optional>

namespace analysis {

// The noises of a schedule, in the order of its treatments.
std::vector<Assigned> noises_of(const Experiment& plan);

// Slots x noises: the share of the `window` slots before that have the noise. Before the first one there is none.
Eigen::MatrixXd noise_before(const Experiment& plan, const std::vector<Assigned>& noises, int window);

// From ordinary steps; a noise may last for `window` slots. None where the order of slots does not separate what is
// left from what is on, with fewer than three blocks, and without a noise.
std::optional<Lasting> lasting_of(const Fit& fit, const Series& series, const StepsOf& of, int window);

}  // namespace analysis
