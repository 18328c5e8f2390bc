// SPDX-License-Identifier: Apache-2.0
// Response curves: how the effect of a noise grows with its level, the lowest level with an effect, and the level that
// the budget tolerates.
#pragma once

#include "analysis/estimate/analyse.hpp"

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
    Mean percent;                 // effect on the step, as in Analysis::effects
    double fitted_percent = 0.0;  // on the monotone curve
    Interval fitted;              // pointwise, made monotone like the curve
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
    std::string option;              // option that the levels set: "rate"
    std::string unit;                // unit of the doses, as in Amount
    bool achieved = false;           // doses are achieved rates; else the requested ones
    std::vector<CurvePoint> points;  // two or more, by dose

    // The minimum effective dose: the lowest level of an unbroken series, from the highest level down, of levels whose
    // interval lies above zero. Testing in this fixed order needs no correction for the number of levels. Its interval
    // comes from random draws of the effects.
    DoseEstimate break_point;

    // The dose at which the curve reaches the budget; none: above the highest dose. Up to `low`, all effects have an
    // interval below the budget (none: not even at the lowest dose); from `high` on, all have one above it. The effect
    // is taken as linear between levels, and from zero to the lowest rate. At both bounds a t test of the hypothesis
    // "the effect is the budget" just rejects it, so each bound is on the wrong side with a probability of at most (1 -
    // confidence) / 2.
    DoseEstimate tolerated;
};

struct CurveRules {
    double budget_percent = 1.0;
    double confidence = 0.95;
    bool looked = false;     // see Rules::looked
    std::uint64_t seed = 1;  // seed of the draws
};

// One part of a run, analysed separately; and a run with its added parts.
struct PartOfCurve {
    const DesignedRun* run = nullptr;
    const Analysis* analysis = nullptr;
};
using RunOfCurve = std::vector<PartOfCurve>;

// Curves of each noise that has, in all runs, two or more levels that are amounts of one option. The curve is the
// isotonic regression of the levels' effects, weighted by their precision (pool adjacent violators). The interval at
// each level is made monotone in the same way (Chernozhukov, Fernandez-Val, Galichon 2009). With several runs, each
// effect, including those between levels, is the mean over runs as random draws, so intervals include what changes from
// run to run (see random_effects()).
std::vector<ResponseCurve> response_curves(const std::vector<RunOfCurve>& runs, const Doses& doses,
                                           const CurveRules& rules);

}  // namespace analysis
