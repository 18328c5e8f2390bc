// SPDX-License-Identifier: Apache-2.0
// How many cores a job needs: from the effects of noise that leaves it fewer.
#pragma once

#include "analysis/conclude/verdict.hpp"
#include "analysis/sections/response/response.hpp"

#include <optional>
#include <vector>

namespace analysis {

// Numbers are physical cores that each rank keeps.
struct CoresNeeded {
    int most = 0;  // of the levels that were run

    // The fewest at which, and at all measured numbers above, the verdict is *safe* and the upper bound of the monotone
    // curve is below the budget. None: not even with the most.
    std::optional<int> enough;

    // The fewest at which the curve itself is within the budget, likewise.
    std::optional<int> by_the_curve;

    // One more than the most at which all of the curve's interval is above the budget; the fewest that were run, if
    // none is.
    int at_least = 0;

    // The most, in the unbroken row from the fewest up, that cost more than chance explains; none if nothing does.
    std::optional<int> break_point;

    // Between the next lower number that was run, where that is shown to be too few, and `enough`.
    std::vector<int> not_measured;
};

// Needs a curve that falls, and the verdict on its levels. Numbers between two that were run are never called enough:
// nothing says how the curve runs there.
CoresNeeded cores_needed(const ResponseCurve& curve, const Verdict& verdict);

}  // namespace analysis
