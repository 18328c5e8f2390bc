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

// Rates that noise achieved at a level, per second for which it was assigned, from its own record; 0 if not recorded.
struct Achieved {
    double bytes_per_s = 0.0;
    double operations_per_s = 0.0;
    double duty = 0.0;  // 0 to 1
};
using Doses = std::map<std::pair<std::string, std::string>, Achieved>;  // by factor and level

struct CurvePoint {
    std::string level;  // "rate=4GiB/s"
    double dose = 0.0;
    std::optional<Achieved> achieved;    // if it is on record
    Mean percent;                        // effect on the step, as in Analysis::effects
    double fitted_percent = 0.0;         // on the monotone curve
    Interval fitted;                     // pointwise, made monotone likewise
    double fitted_with_accidents = 0.0;  // the highest that the effect can be with accidents, likewise
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
    std::string option;              // that has the levels: "rate"
    std::string unit;                // of the doses, as in Amount
    bool achieved = false;           // doses are what was achieved, else what was asked for
    bool falls = false;              // with the dose: of cores that a job keeps
    std::vector<CurvePoint> points;  // two or more, by dose; from the highest down where the curve falls

    // The minimum effective dose: the lowest level of an unbroken series, from the highest level down, of levels whose
    // interval lies above zero. Testing in this fixed order needs no correction for the number of levels. Its interval
    // comes from random draws of the effects.
    DoseEstimate break_point;

    // The dose at which the curve reaches the budget, between levels taken as linear, and below the lowest rate as
    // linear from nothing; none: above the highest, or the curve falls. `low` is the highest dose that was run up to
    // which all effects have an interval below the budget (none: not even the lowest has), since nothing says how the
    // curve runs between two levels; from `high` on, all are above it. The bounds are doses at which a t test of "the
    // effect is the budget" ends to reject it, so that each is on the wrong side in (1 - confidence) / 2 at most.
    DoseEstimate tolerated;
};

// Curves of each noise with two or more levels, in all runs, that are amounts of one option. The curve is the isotonic
// regression of the levels' effects, weighted by their precision (pool adjacent violators), the interval at each level
// made monotone likewise (Chernozhukov, Fernandez-Val, Galichon 2009). Of several runs each effect, those between
// levels included, is the mean over runs as random draws, so that intervals hold what changes from run to run (see
// random_effects()).
std::vector<ResponseCurve> response_curves(const std::vector<RunOfCurve>& runs, const Doses& doses,
                                           const CurveRules& rules);

}  // namespace analysis
