#include "analysis/report/numbers.hpp"

#include "analysis/verdict.hpp"
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

std::string minutes(double minutes)
{
    if (minutes >= minutes_missing_limit) return "more than a day";
    const double whole = std::ceil(minutes);
    if (whole > 120.0) return base::join(std::ceil(whole / 60.0), " more hours");
    return base::join(whole, whole == 1.0 ? " more minute" : " more minutes");
}

}  // namespace analysis
