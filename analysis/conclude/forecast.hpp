// SPDX-License-Identifier: Apache-2.0
// Forecasts how long a new run has to be for a narrower interval.
#pragma once

#include "analysis/estimate/inference.hpp"

#include <optional>

namespace analysis {

constexpr double forecast_limit_minutes = 1440.0;
constexpr int least_blocks_to_forecast = 10;  // the spread of fewer blocks is known too badly
constexpr int least_runs_to_forecast = 3;     // each run has many blocks

// A forecast of the whole length, including the time measured so far.
struct Forecast {
    double half_width_percent = 0.0;  // expected half width of the interval of such a run
    double minutes = 0.0;             // forecast_limit_minutes stands for that length or more
};

// The forecast. The half width of the interval at that confidence falls with the square root of the run's length, and a
// little faster with few blocks. The forecast interval is valid at every check if the present one is. The target is
// three quarters of the budget: an effect below a quarter of the budget is then safe. Where the interval is that narrow
// already, because the estimate is close to the budget, the target is half of the present half width. The forecast does
// not use the estimate, which may be anywhere in its interval. None with fewer than `least` blocks, or runs where the
// run is the unit. run_minutes: length of this run, or of all runs.
std::optional<Forecast> forecast(const Mean& percent, double confidence, double budget_percent, double run_minutes,
                                 int least = least_blocks_to_forecast);

// The minimum detectable effect: the smallest true effect whose interval excludes zero in the share `power` of such
// runs.
double detectable_percent(const Mean& percent, double confidence, double power = 0.8);

}  // namespace analysis
