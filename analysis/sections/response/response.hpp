// SPDX-License-Identifier: Apache-2.0
// Response curves: how the effect of a noise grows with its level, the lowest level with an effect, and the level that
// the budget tolerates.
#pragma once

#include "analysis/sections/response/basis.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

// Rates that noise achieved at a level, per second in which the slot table had it on; 0 if it did not record them.
struct Achieved {
    double bytes_per_s = 0.0;
    double operations_per_s = 0.0;
    double duty = 0.0;  // 0 to 1
};
using Doses = std::map<std::pair<std::string, std::string>, Achieved>;  // by factor and level

struct CurvePoint {
    std::string level;  // "rate=4GiB/s"
    double dose = 0.0;
    std::optional<Achieved> achieved;    // none if not recorded
    Mean percent;                        // effect on the step, as in Analysis::effects
    double fitted_percent = 0.0;         // value of the monotone curve
    Interval fitted;                     // pointwise interval, made monotone, too
    double fitted_with_accidents = 0.0;  // upper bound with accidents, made monotone, too
};

// A dose with its interval; none: above the measured doses.
struct DoseEstimate {
    std::optional<double> value;
    std::optional<double> low;
    std::optional<double> high;
};

struct ResponseCurve {
    std::string factor;
    std::string stressor;
    std::string option;              // option that has the levels: "rate"
    std::string unit;                // unit of the doses, as in Amount
    bool achieved = false;           // doses are achieved rates; else the requested ones
    bool falls = false;              // the effect falls with the dose: cores that a job keeps
    std::vector<CurvePoint> points;  // two or more, by rising dose, or by falling dose if the effect falls with it

    // The minimum effective dose: the lowest level of an unbroken series, from the highest level down, of levels whose
    // interval lies above zero. Testing in this fixed order needs no correction for the number of levels. Its interval
    // comes from random draws of the effects.
    DoseEstimate break_point;

    // The dose at which the curve reaches the budget. The curve is linear between levels, and below the lowest rate
    // linear from the origin. None: the budget is above the highest level, or the effect falls with the dose. `low` is
    // the highest measured dose up to which all intervals lie below the budget (none: not even the lowest), since the
    // curve between two levels is unknown; from `high` on, all intervals lie above it. Each bound is on the wrong side
    // with a probability of at most (1 - confidence) / 2.
    DoseEstimate tolerated;
};

// A curve for each noise with two or more levels, in all runs, that are amounts of one option. It is the isotonic
// regression of the levels' effects, weighted by their precision (pool adjacent violators); the interval at each level
// is made monotone, too (Chernozhukov, Fernandez-Val, Galichon 2009). With several runs, each effect is the mean over
// runs as random draws, so that intervals include differences between runs (see random_effects()).
std::vector<ResponseCurve> response_curves(const std::vector<RunOfCurve>& runs, const Doses& doses,
                                           const CurveRules& rules);

}  // namespace analysis
