// SPDX-License-Identifier: Apache-2.0
// What all noises of a schedule leave alike.
#pragma once

#include "analysis/estimate/carry_over.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace analysis {

// What all noises leave alike and do not add up, such as cold caches: steps without noise are longer as long as the
// last noise, whichever it was, is not longer ago than this. Quiet then has what the noises have, and no effect
// includes it.
struct SharedState {
    int slots = 1;
    double percent = 0.0;       // of the quiet mean step
    double high_percent = 0.0;  // upper bound of its 95 % interval
};

// Looks for a shared state beside the carry-over, at 5 % over all lengths; none found or to be separated: none.
std::optional<SharedState> shared_state(const Series& series, const StepsOf& steps, const Fit& fit,
                                        const std::vector<CarryOver>& carried, std::uint64_t seed);

}  // namespace analysis
