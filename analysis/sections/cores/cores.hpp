// SPDX-License-Identifier: Apache-2.0
// The number of cores that a job needs, from the effects of job.cores, noise that takes cores away.
#pragma once

#include "analysis/conclude/verdict.hpp"
#include "analysis/sections/response/response.hpp"

#include <optional>
#include <vector>

namespace analysis {

// All numbers are physical cores that each rank keeps.
struct CoresNeeded {
    int most = 0;  // largest number that was measured

    // The smallest measured number that is enough: from it upwards, every measured number has the verdict *safe*, and
    // the upper bound of the monotone curve is below the budget. None: not even the largest number is.
    std::optional<int> enough;

    // The same by the curve's estimate alone, without its interval.
    std::optional<int> by_the_curve;

    // Smallest number that could be enough: one more than the largest number whose interval lies above the budget, or
    // the smallest measured number if there is none.
    int at_least = 0;

    // Largest number with a cost beyond chance, such that all smaller measured numbers have one, too; none if there is
    // none.
    std::optional<int> break_point;

    // Unmeasured numbers between `enough` and the next smaller measured number, if that one is too few.
    std::vector<int> not_measured;
};

// Needs a curve that falls with the number of cores, and the verdicts on its levels. An unmeasured number is never
// called enough, since the curve between measured numbers is unknown.
CoresNeeded cores_needed(const ResponseCurve& curve, const Verdict& verdict);

}  // namespace analysis
