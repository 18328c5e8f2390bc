// SPDX-License-Identifier: Apache-2.0
// One pass over the numbers of a tensor, about as fast as reading them.
#pragma once

#include "ddl-workloads/models/state_tensor.hpp"

#include <cstddef>
#include <span>

namespace ddl {

bool is_floating(ElementType type);

// The largest absolute value of a floating-point tensor; infinite or NaN if some number is, and 0 for an empty tensor.
double largest_magnitude(ElementType type, std::span<const std::byte> bytes);

// The square of the L2 norm.
double sum_of_squares(std::span<const float> values);

// Clips numbers whose magnitude is not below `bound` to the largest magnitude of the others, and sets NaN to 0. Returns
// how many numbers were changed.
std::size_t clip(ElementType type, std::span<std::byte> bytes, double bound);

}  // namespace ddl
