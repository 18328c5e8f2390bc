// SPDX-License-Identifier: Apache-2.0
// Roles of tensors by path and neighbours, because files store no roles and frameworks differ in their names.
#pragma once

#include "soft-errors/drawing/tensors.hpp"

#include <string>
#include <vector>

namespace soft_errors {

// The role of each tensor: "weight", "bias", "norm" (scale, shift and running statistics of a normalisation),
// "optimizer" or "other" (state of random numbers, counters).
std::vector<std::string> roles_of(const NamedTensors& state);

const std::vector<std::string>& all_roles();

}  // namespace soft_errors
