// SPDX-License-Identifier: Apache-2.0
// How many bits stay between two that flip, where each flips with the same probability: as many draws as flips are
// made, however many bits there are.
#pragma once

#include "base/random.hpp"

#include <array>
#include <cstdint>

namespace soft_errors {

// A gap of g bits has probability (1 - rate)^g rate. The bits of such a number are independent: bit k is set with
// probability q^(2^k) / (1 + q^(2^k)), q = 1 - rate. No logarithm, which would differ between machines.
class GeometricGap {
 public:
    // More than 0, at most 1.
    explicit GeometricGap(double rate);

    std::uint64_t operator()(base::Random& random) const;

 private:
    std::array<double, 63> likely_{};
};

}  // namespace soft_errors
