// SPDX-License-Identifier: Apache-2.0
// Memory without error correction that holds weights: each bit may flip in a read, and a detector finds some flips.
#pragma once

#include "base/random.hpp"
#include "soft-errors/codes/weight_code.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace soft_errors {

struct WeightMemory {
    const WeightCode* code = nullptr;
    bool parity = false;  // adds a bit to each weight, which may flip too; a weight with odd parity is read as 0
    bool range = false;   // a weight outside the tensor's range is read as the nearest bound, and NaN as 0
    double rate = 0.0;    // probability that a bit flips in a read, 0 to 1
};

// The memory for names in stored::codes and stored::detections. Throws UsageError.
WeightMemory weight_memory(const std::string& code, const std::string& detection, double rate);

struct WeightRead {
    std::uint64_t bits = 0;      // number of bits read, with parity bits
    std::uint64_t flipped = 0;   // number of bits flipped
    std::uint64_t detected = 0;  // number of weights
};

// Replaces a tensor's weights by what a read of them gives: rounded by the code, then damaged. Rounding alone is never
// detected.
WeightRead read_weights(const WeightMemory& memory, std::span<float> weights, base::Random& random);

}  // namespace soft_errors
