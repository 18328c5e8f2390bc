// SPDX-License-Identifier: Apache-2.0
#include "analysis/conclude/forecast.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

// The mean if there were `times` as many blocks with the same spread. Alternatives that the present data do not rule
// out are dropped, since more data will.
Mean of_more_blocks(Mean percent, double times)
{
    percent.standard_error /= std::sqrt(times);
    percent.degrees_of_freedom = (percent.degrees_of_freedom + 1.0) * times - 1.0;
    for (base::RareEvents* events : {&percent.more, &percent.fewer}) {
        events->variance /= times;
        events->largest /= times;
    }
    percent.or_else = {};
    return percent;
}

}  // namespace

std::optional<Forecast> forecast(const Mean& percent, double confidence, double budget_percent, double run_minutes,
                                 int least)
{
    const double have = percent.degrees_of_freedom + 1.0;
    if (have < least) return std::nullopt;
    const double now = percent.interval(confidence).half_width();
    const double wanted = 0.75 * budget_percent;
    const double target = now > wanted ? wanted : now / 2.0;
    double blocks = have;
    while (of_more_blocks(percent, blocks / have).interval(confidence).half_width() > target) {
        blocks = std::ceil(blocks * 1.02);
        if (run_minutes * blocks / have >= forecast_limit_minutes) return Forecast{target, forecast_limit_minutes};
    }
    return Forecast{target, run_minutes * blocks / have};
}

double detectable_percent(const Mean& percent, double confidence, double power)
{
    return percent.interval(confidence).half_width() +
           t_quantile(2.0 * power - 1.0, percent.degrees_of_freedom) * percent.standard_error;
}

}  // namespace analysis
