// SPDX-License-Identifier: Apache-2.0
// The difference of two independent estimates of one effect, such as before and after a change.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>

namespace analysis {

// An estimate as a report gives it. Without a standard error only its interval is known.
struct Estimated {
    double value = 0.0;
    Interval interval;
    std::optional<double> standard_error;
    std::optional<double> degrees_of_freedom;
};

struct EstimatedDifference {
    double value = 0.0;  // after - before
    Interval interval;
    double p = 1.0;  // two-sided, of the hypothesis of no difference
    bool by_welch = false;
};

// Where both intervals are Student's t, the difference has Welch's t interval, with degrees of freedom by Welch and
// Satterthwaite. Else, for intervals that are not symmetric or are valid at every check, the squared distances of both
// estimates from their bounds add up (MOVER; Zou and Donner 2008), and p is that of the Student's t whose interval has
// the same bound on the side of zero. confidence: that of both intervals.
EstimatedDifference difference(const Estimated& before, const Estimated& after, double confidence);

}  // namespace analysis
