// SPDX-License-Identifier: Apache-2.0
// Memory that keeps weights cheaply: each of its bits may have flipped when it is read, and a detector finds some.
#pragma once

#include "base/random.hpp"
#include "soft-errors/codes/weight_code.hpp"

#include <cstdint>
#include <span>
#include <string>

namespace soft_errors {

struct WeightMemory {
    const WeightCode* code = nullptr;
    bool parity = false;  // one more bit a weight, which flips as others do; a weight whose bits are odd becomes 0
    bool range = false;   // a weight beyond the tensor's least and largest becomes that one, and NaN becomes 0
    double rate = 0.0;    // that a bit flips in a read; 0 to 1
};

// The memory for words of stored::codes and stored::detections. Throws UsageError.
WeightMemory weight_memory(const std::string& code, const std::string& detection, double rate);

struct WeightRead {
    std::uint64_t bits = 0;      // that were read, parity bits too
    std::uint64_t flipped = 0;   // of them
    std::uint64_t detected = 0;  // weights
};

// A tensor's weights become what is read of it: rounded as the code has it, then damaged. What the code makes of sound
// weights is never detected.
WeightRead read_weights(const WeightMemory& memory, std::span<float> weights, base::Random& random);

}  // namespace soft_errors
