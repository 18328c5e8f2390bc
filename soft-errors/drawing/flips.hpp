// SPDX-License-Identifier: Apache-2.0
// Alterations of a number: bits flipped, masked, or the number multiplied.
#pragma once

#include "base/random.hpp"
#include "soft-errors/drawing/request.hpp"
#include "soft-errors/drawing/tensors.hpp"

#include <cstdint>
#include <vector>

namespace soft_errors {

// Bits that may flip, from the left. Throws Error if the tensor's type has fewer bits.
std::vector<int> allowed_bits(const NamedTensor& tensor, const FlipRequest& request);

// The new bits of each number, in the order of the sites. NotFinite::skip removes both site and number where the result
// would not be finite. Throws Error if results must be finite and no allowed bit gives one.
std::vector<NumberBits> altered(const NamedTensors& state, std::vector<Site>& sites, std::vector<NumberBits>& numbers,
                                const FlipRequest& request, base::Random& random);

}  // namespace soft_errors
