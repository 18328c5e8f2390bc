// SPDX-License-Identifier: Apache-2.0
// A state of the node that all noises of a schedule cause alike.
#pragma once

#include "analysis/estimate/carry_over.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace analysis {

// A state that lasts for some slots after any noise, and that the next noise does not deepen, such as cold caches.
// Quiet slots within that time have it as slots with noise do, so it is in no effect.
struct SharedState {
    int slots = 1;              // number of slots after a noise in which it lasts
    double percent = 0.0;       // how much longer steps without noise are then, in percent of the quiet mean step
    double high_percent = 0.0;  // upper bound of its 95 % interval
};

// Looks for a shared state beside the carry-over, at 5 % over all lengths. None if none is found, and where the order
// of slots does not separate it.
std::optional<SharedState> shared_state(const Series& series, const StepsOf& steps, const Fit& fit,
                                        const std::vector<CarryOver>& carried, std::uint64_t seed);

}  // namespace analysis
