// SPDX-License-Identifier: Apache-2.0
// Rollbacks of a coded training, counted with the real decoder.
#pragma once

#include "ddl-workloads/codes/layer_code.hpp"

#include <cstdint>

namespace ddl {

// Iterations of `layers` coded layers. In each of the three operations on its block (forward, backward, update) a rank
// adds an error to it with probability `error_rate`; the error stays until it is found. Blocks behind wrong symbols are
// regenerated from others; where symbols cannot be decoded, all layers roll back to sound blocks. Returns the number of
// iterations that rolled back.
std::int64_t simulated_rollbacks(const LayerCode& code, int layers, double error_rate, std::int64_t iterations,
                                 std::uint64_t seed);

}  // namespace ddl
