// SPDX-License-Identifier: Apache-2.0
// One pass over the numbers of a tensor, about as fast as reading them.
#pragma once

#include "ddl-workloads/models/state_tensor.hpp"

#include <cstddef>
#include <span>

namespace ddl {

bool is_floating(ElementType type);

// The largest absolute value of a floating-point tensor, 0 of an empty one: infinite or NaN if some number is.
double largest_magnitude(ElementType type, std::span<const std::byte> bytes);

// The square of the L2 norm.
double sum_of_squares(std::span<const float> values);

// Numbers whose magnitude is not below `bound` become as large as the largest of the others, NaN becomes 0. Returns how
// many.
std::size_t clip(ElementType type, std::span<std::byte> bytes, double bound);

}  // namespace ddl
