// SPDX-License-Identifier: Apache-2.0
#include "analysis/estimate/difference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace analysis {

namespace {

bool has_error(const Estimated& one)
{
    return one.standard_error && one.degrees_of_freedom && *one.standard_error > 0.0 && *one.degrees_of_freedom > 0.0;
}

bool is_students(const Estimated& one, double confidence)
{
    if (!has_error(one)) return false;
    const double half = t_quantile(confidence, *one.degrees_of_freedom) * *one.standard_error;
    const double near = 1e-6 * half;
    return std::abs(one.interval.low - (one.value - half)) < near &&
           std::abs(one.interval.high - (one.value + half)) < near;
}

// Returns a number so large that Student's t is normal if an error is unknown.
double degrees_of_freedom(const Estimated& a, const Estimated& b)
{
    constexpr double normal = 1e6;
    if (!has_error(a) || !has_error(b)) return normal;
    return base::joint_degrees_of_freedom({{*a.standard_error * *a.standard_error, *a.degrees_of_freedom},
                                           {*b.standard_error * *b.standard_error, *b.degrees_of_freedom}});
}

}  // namespace

EstimatedDifference difference(const Estimated& before, const Estimated& after, double confidence)
{
    EstimatedDifference found;
    found.value = after.value - before.value;
    found.by_welch = is_students(before, confidence) && is_students(after, confidence);
    const double freedom = degrees_of_freedom(before, after);
    const double quantile = t_quantile(confidence, freedom);
    if (found.by_welch) {
        const double half = quantile * std::hypot(*before.standard_error, *after.standard_error);
        found.interval = {found.value - half, found.value + half};
    } else {
        found.interval = {
            found.value - std::hypot(after.value - after.interval.low, before.interval.high - before.value),
            found.value + std::hypot(after.interval.high - after.value, before.value - before.interval.low)};
    }
    const double to_zero = found.value > 0.0 ? found.value - found.interval.low : found.interval.high - found.value;
    if (found.value == 0.0) return found;
    found.p = to_zero <= 0.0 ? 0.0 : t_test_p(quantile * std::abs(found.value) / to_zero, freedom);
    return found;
}

}  // namespace analysis
