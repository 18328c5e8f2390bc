// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/numbers.hpp"

#include "analysis/conclude/forecast.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

int digits_for(double number)
{
    return std::abs(number) < 9.995 ? 2 : 1;
}

}  // namespace

std::string range(const Interval& interval)
{
    const int digits = digits_for(std::max(std::abs(interval.low), std::abs(interval.high)));
    return fixed(interval.low, digits) + " to " + fixed(interval.high, digits) + " %";
}

std::string p_value(double p)
{
    return p < 0.001 ? "< 0.001" : fixed(p, 3);
}

namespace {

std::string in_units(double minutes, double (*whole)(double))
{
    if (minutes <= 5.0) return base::join(std::round(60.0 * minutes), " s");
    if (minutes <= 120.0) return base::join(whole(minutes), " min");
    return base::join(whole(minutes / 60.0), " h");
}

}  // namespace

std::string length_needed(double minutes)
{
    if (minutes >= forecast_limit_minutes) return "more than a day";
    return in_units(minutes, std::ceil);
}

std::string length_measured(double minutes)
{
    return in_units(minutes, std::round);
}

}  // namespace analysis
