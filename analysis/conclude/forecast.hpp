// SPDX-License-Identifier: Apache-2.0
// How long a new run would have to be for a narrower interval.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>

namespace analysis {

constexpr double forecast_limit_minutes = 1440.0;
constexpr int least_blocks_to_forecast = 10;  // fewer say too little about their own spread
constexpr int least_runs_to_forecast = 3;     // each with many blocks

// Length in all, including the time measured so far.
struct Forecast {
    double half_width_percent = 0.0;  // of the interval that such a run is expected to give
    double minutes = 0.0;             // forecast_limit_minutes: that long or longer
};

// The half width of the interval at that confidence falls with the square root of the run's length, and a little faster
// with few blocks; it is that of an interval that holds at all looks if this one's is. The target is three quarters of
// the budget: an effect below a quarter of the budget then comes out as safe. Where the interval is that narrow
// already, and the estimate too near to the budget, it is half of the present half width. It does not rest on the
// estimate, which may be anything within its interval. None below `least` blocks, or runs where these are the unit.
// run_minutes: length of this run, or of all runs.
std::optional<Forecast> forecast(const Mean& percent, double confidence, double budget_percent, double run_minutes,
                                 int least = least_blocks_to_forecast);

// The minimum detectable effect: the smallest true effect whose interval leaves zero out in that share of such runs.
double detectable_percent(const Mean& percent, double confidence, double power = 0.8);

}  // namespace analysis
