// SPDX-License-Identifier: Apache-2.0
// How a number is altered: bits flipped, masked, or the number multiplied.
#pragma once

#include "base/random.hpp"
#include "soft-errors/drawing/request.hpp"
#include "soft-errors/drawing/tensors.hpp"

#include <cstdint>
#include <vector>

namespace soft_errors {

// Bits that may flip, from the left. Throws Error if the tensor's type has not as many.
std::vector<int> allowed_bits(const NamedTensor& tensor, const FlipRequest& request);

// The new bits of each number, which stand in the order of the sites. Of those that NotFinite::skip leaves out both are
// taken away. Throws Error if no bits that are allowed leave a number finite and they must.
std::vector<NumberBits> altered(const NamedTensors& state, std::vector<Site>& sites, std::vector<NumberBits>& numbers,
                                const FlipRequest& request, base::Random& random);

}  // namespace soft_errors
