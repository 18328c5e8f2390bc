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

// Goes down from the largest number of cores, and returns the last one before the first that is not enough.
template <class IsEnough>
std::optional<int> fewest(const ResponseCurve& curve, const IsEnough& is_enough)
{
    std::optional<int> fewest;
    for (const CurvePoint& point : curve.points) {
        if (!is_enough(point)) break;
        fewest = cores_at(point);
    }
    return fewest;
}

}  // namespace

CoresNeeded cores_needed(const ResponseCurve& curve, const Verdict& verdict)
{
    const double budget_percent = verdict.budget_percent;
    CoresNeeded needed;
    needed.most = cores_at(curve.points.front());
    needed.enough = fewest(curve, [&](const CurvePoint& point) {
        return point.fitted.high < budget_percent && verdict.says(base::verdict_word::safe, curve.factor, point.level);
    });
    needed.by_the_curve = fewest(curve, [&](const CurvePoint& point) { return point.fitted_percent < budget_percent; });
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
