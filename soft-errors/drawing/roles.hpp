// SPDX-License-Identifier: Apache-2.0
// Role of a tensor, by its path and its neighbours: frameworks have names for it, and files no types.
#pragma once

#include "soft-errors/drawing/tensors.hpp"

#include <string>
#include <vector>

namespace soft_errors {

// "weight", "bias", "norm" (scale, shift and running statistics of a normalisation), "optimizer" or "other" (random
// numbers, counters), for each of the state's tensors.
std::vector<std::string> roles_of(const NamedTensors& state);

const std::vector<std::string>& all_roles();

}  // namespace soft_errors
