// SPDX-License-Identifier: Apache-2.0
#include "analysis/sections/cores/cores.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

int cores_at(const CurvePoint& point)
{
    return static_cast<int>(std::lround(point.dose));
}

// The last point of the row from the most cores down at which the number is below the budget.
template <class Number>
std::optional<int> fewest_below(const ResponseCurve& curve, double budget_percent, const Number& number)
{
    std::optional<int> fewest;
    for (const CurvePoint& point : curve.points) {
        if (number(point) >= budget_percent) break;
        fewest = cores_at(point);
    }
    return fewest;
}

}  // namespace

CoresNeeded cores_needed(const ResponseCurve& curve, double budget_percent)
{
    CoresNeeded needed;
    needed.most = cores_at(curve.points.front());
    needed.enough = fewest_below(curve, budget_percent, [](const CurvePoint& point) { return point.fitted.high; });
    needed.by_the_curve =
        fewest_below(curve, budget_percent, [](const CurvePoint& point) { return point.fitted_percent; });
    needed.at_least = cores_at(curve.points.back());
    for (const CurvePoint& point : curve.points)
        if (point.fitted.low > budget_percent) {
            needed.at_least = cores_at(point) + 1;
            break;
        }
    if (curve.break_point.value) needed.break_point = static_cast<int>(std::lround(*curve.break_point.value));
    if (!needed.enough) return needed;
    int below = 0;
    for (const CurvePoint& point : curve.points)
        if (cores_at(point) < *needed.enough) below = std::max(below, cores_at(point));
    for (int cores = below + 1; needed.at_least == below + 1 && cores < *needed.enough; ++cores)
        needed.not_measured.push_back(cores);
    return needed;
}

}  // namespace analysis
