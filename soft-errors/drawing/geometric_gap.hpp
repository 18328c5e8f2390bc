// SPDX-License-Identifier: Apache-2.0
// Draws the number of bits between two flips, where each bit flips with the same probability. It takes as many draws as
// there are flips, however many bits there are.
#pragma once

#include "base/random.hpp"

#include <array>
#include <cstdint>

namespace soft_errors {

// A gap of g bits has probability (1 - rate)^g rate. The binary digits of such a number are independent: digit k is 1
// with probability q^(2^k) / (1 + q^(2^k)), q = 1 - rate. A logarithm would differ between machines.
class GeometricGap {
 public:
    // rate: more than 0, at most 1.
    explicit GeometricGap(double rate);

    std::uint64_t operator()(base::Random& random) const;

 private:
    std::array<double, 63> likely_{};
};

}  // namespace soft_errors
