// SPDX-License-Identifier: Apache-2.0
// Numbers of symbols in one pass of a coded layer, and the resulting probabilities that a product is wrong or has to
// wait.
#pragma once

#include "ddl-workloads/codes/layer_code.hpp"

#include <optional>
#include <vector>

namespace ddl {

struct Pass {
    // Symbols that are decoded separately from others.
    struct Group {
        int symbols = 0;
        int parts = 0;
    };
    std::vector<Group> groups{};
    int terms = 1;  // ranks whose products add up to a symbol
    int parts = 1;  // of all groups

    int symbols() const;
    int spare() const;  // symbols of a group minus its parts; equal in all groups
};

Pass forward_pass(const LayerCode& code);
Pass backward_pass(const LayerCode& code);

// The probability that the pass waits for a late rank if each rank is late with probability `late` and `spare` symbols
// must arrive beyond those needed. None if a group has fewer spare symbols.
std::optional<double> waiting(const Pass& pass, double late, int spare);

// The probability that more symbols are wrong than can be corrected if each rank has erred with this probability.
double uncorrectable(const Pass& pass, double erred);

}  // namespace ddl
