// SPDX-License-Identifier: Apache-2.0
// The tensors of a training's state, in a file or in memory, with the properties that drawing needs.
#pragma once

#include "soft-errors/state/number_format.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace soft_errors {

struct NamedTensor {
    std::string path = {};  // "model/layers.0.weight"
    NumberFormat format = {};
    std::vector<std::uint64_t> shape = {};  // empty: a single number
    std::uint64_t elements = 1;
};

struct NamedTensors {
    std::string name;  // name of the state, for messages
    std::vector<NamedTensor> tensors{};
};

// A number of a state, and its bits.
struct NumberBits {
    std::size_t tensor = 0;
    std::uint64_t index = 0;
    std::uint64_t bits = 0;
};

// A number to be altered; with a bit error rate, also its flipped bits.
struct Site {
    std::size_t tensor = 0;
    std::uint64_t index = 0;
    std::uint64_t flipped = 0;  // bits that flip; 0: still to be drawn
};

}  // namespace soft_errors
