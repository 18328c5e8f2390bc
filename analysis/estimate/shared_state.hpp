// SPDX-License-Identifier: Apache-2.0
// A state of the node that all noises of a schedule leave behind alike.
#pragma once

#include "analysis/estimate/carry_over.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace analysis {

// A state such as cold caches that lasts for some slots after any noise, and that further noise does not deepen. Quiet
// slots within that time have it, too, so no noise's effect includes it.
struct SharedState {
    int slots = 1;         // number of slots after a noise in which it lasts
    double percent = 0.0;  // how much longer steps without noise are in that time, in percent of the mean quiet step
    double high_percent = 0.0;  // upper bound of its 95 % interval
};

// Tests for a shared state that lasts 1 to 8 slots, in addition to carry-over, at a level of 5 % over all numbers of
// slots. No value if none is found, or if the order of slots does not separate the state from the effects.
std::optional<SharedState> shared_state(const Series& series, const StepsOf& steps, const Fit& fit,
                                        const std::vector<CarryOver>& carried, std::uint64_t seed);

}  // namespace analysis
