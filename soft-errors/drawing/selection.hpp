// SPDX-License-Identifier: Apache-2.0
// Selects the tensors of a state that may be altered, and draws which of their numbers to alter.
#pragma once

#include "base/random.hpp"
#include "soft-errors/drawing/request.hpp"
#include "soft-errors/drawing/tensors.hpp"

#include <cstdint>
#include <vector>

namespace soft_errors {

// Indices of the tensors that match locations, role and precision. Throws Error if there are none.
std::vector<std::size_t> eligible(const NamedTensors& state, const SiteRequest& request);

// Draws distinct sites, sorted by tensor and index. Sampling `element`: each set of numbers has the same probability.
// `tensor`: each tensor has the same probability, then each of its numbers. `stratified`: each tensor gives the same
// number of sites. Throws Error if there are too few numbers. bits: the bits that may flip, for a bit error rate.
std::vector<Site> draw_sites(const NamedTensors& state, const std::vector<std::size_t>& tensors,
                             const SiteRequest& request, const FlipRequest& bits, base::Random& random);

}  // namespace soft_errors
