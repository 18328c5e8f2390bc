#include "analysis/report/numbers.hpp"

#include "analysis/conclude/forecast.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace analysis {

namespace {

int digits_for(double number)
{
    return std::abs(number) < 9.995 ? 2 : 1;
}

}  // namespace

std::string fixed(double number, int digits)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    const std::string plain = text;
    return plain.find_first_of("123456789") == std::string::npos && plain[0] == '-' ? plain.substr(1) : plain;
}

std::string percent(double number)
{
    return fixed(number, digits_for(number)) + " %";
}

std::string signed_percent(double number)
{
    const std::string text = percent(number);
    return text[0] == '-' || text.find_first_of("123456789") == std::string::npos ? text : "+" + text;
}

std::string range(const Interval& interval)
{
    const int digits = digits_for(std::max(std::abs(interval.low), std::abs(interval.high)));
    return fixed(interval.low, digits) + " to " + fixed(interval.high, digits) + " %";
}

std::string p_value(double p)
{
    return p < 0.001 ? "< 0.001" : fixed(p, 3);
}

std::string length(double minutes)
{
    if (minutes >= forecast_limit_minutes) return "more than a day";
    if (minutes <= 5.0) return base::join(std::ceil(60.0 * minutes - 0.5), " s");
    if (minutes <= 120.0) return base::join(std::ceil(minutes), " min");
    return base::join(std::ceil(minutes / 60.0), " h");
}

std::string count(std::size_t number, const std::string& noun)
{
    return base::join(number, " ", noun, number == 1 ? "" : "s");
}

}  // namespace analysis
