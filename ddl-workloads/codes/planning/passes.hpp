// SPDX-License-Identifier: Apache-2.0
// The symbols of one pass of a coded layer, as far as their number matters: how likely it is that a product is wrong
// or has to wait.
#pragma once

#include "ddl-workloads/codes/layer_code.hpp"

#include <optional>
#include <vector>

namespace ddl {

struct Pass {
    // Symbols that are decoded apart from others.
    struct Group {
        int symbols = 0;
        int parts = 0;
    };
    std::vector<Group> groups{};
    int terms = 1;  // ranks whose products add up to a symbol
    int parts = 1;  // of all groups

    int symbols() const;
    int spare() const;  // symbols of a group beyond its parts; all groups have as many
};

Pass forward_pass(const LayerCode& code);
Pass backward_pass(const LayerCode& code);

// The probability that the pass waits for a late rank if each is late with this probability. None if no symbols can be
// kept spare.
std::optional<double> waiting(const Pass& pass, double late, int spare);

// The probability that more symbols are wrong than can be corrected if each rank has erred with this probability.
double uncorrectable(const Pass& pass, double erred);

}  // namespace ddl
