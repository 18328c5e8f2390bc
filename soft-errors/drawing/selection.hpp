// SPDX-License-Identifier: Apache-2.0
// Which tensors of a state may be altered, and which of their numbers are.
#pragma once

#include "base/random.hpp"
#include "soft-errors/drawing/request.hpp"
#include "soft-errors/drawing/tensors.hpp"

#include <cstdint>
#include <vector>

namespace soft_errors {

// Places of tensors that locations, role and precision let through. Throws Error if there are none.
std::vector<std::size_t> eligible(const NamedTensors& state, const SiteRequest& request);

// Distinct, sorted by tensor and index. Each set of as many numbers is as likely as any other (sampling element); each
// tensor is (tensor: then each of its numbers); each tensor has as many (stratified). Throws Error if there are not as
// many. `bits`: of a bit error rate, those that may flip.
std::vector<Site> draw_sites(const NamedTensors& state, const std::vector<std::size_t>& tensors,
                             const SiteRequest& request, const FlipRequest& bits, base::Random& random);

}  // namespace soft_errors
