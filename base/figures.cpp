// SPDX-License-Identifier: Apache-2.0
#include "base/figures.hpp"

#include "base/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace base {

namespace {

struct Prefix {
    double factor;
    const char* name;
};
constexpr std::array<Prefix, 4> decimal{{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1.0, ""}}};
constexpr std::array<Prefix, 4> binary{{{1073741824.0, "Gi"}, {1048576.0, "Mi"}, {1024.0, "Ki"}, {1.0, ""}}};

std::string with_prefix(double amount, const std::string& unit, Prefixes which = Prefixes::decimal)
{
    if (std::isnan(amount)) return "-";
    const std::array<Prefix, 4>& prefixes = which == Prefixes::binary ? binary : decimal;
    std::size_t i = 0;
    while (i + 1 < prefixes.size() && amount < 999.5 * prefixes[i + 1].factor) ++i;  // 999.5 and more print as 1e+03
    std::ostringstream text;
    text.precision(3);
    text << amount / prefixes[i].factor << " " << prefixes[i].name << unit;
    return text.str();
}

int digits_of_percent(double number)
{
    return std::abs(number) < 9.995 ? 2 : 1;
}

// whole: rounds minutes, or hours.
std::string length_text(double minutes, double (*whole)(double))
{
    if (minutes <= 5.0) return join(std::round(60.0 * minutes), " s");
    if (minutes <= 120.0) return join(whole(minutes), " min");
    return join(whole(minutes / 60.0), " h");
}

std::string with_sign(const std::string& text)
{
    return text[0] == '-' || text.find_first_of("123456789") == std::string::npos ? text : "+" + text;
}

}  // namespace

std::string fixed(double number, int digits)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, number);
    const std::string plain = text;
    return plain.find_first_of("123456789") == std::string::npos && plain[0] == '-' ? plain.substr(1) : plain;
}

std::string percent(double number, int digits)
{
    return fixed(number, digits) + " %";
}

std::string percent(double number)
{
    return percent(number, digits_of_percent(number));
}

std::string signed_percent(double number)
{
    return with_sign(percent(number));
}

std::string signed_percent(double number, int digits)
{
    return with_sign(percent(number, digits));
}

std::string range(const Interval& percent)
{
    const int digits = digits_of_percent(std::max(std::abs(percent.low), std::abs(percent.high)));
    return fixed(percent.low, digits) + " to " + fixed(percent.high, digits) + " %";
}

std::string p_value(double p)
{
    return p < 0.001 ? "< 0.001" : fixed(p, 3);
}

std::string length_needed(double minutes)
{
    constexpr double day = 24.0 * 60.0;
    return minutes >= day ? "more than a day" : length_text(minutes, std::ceil);
}

std::string length_measured(double minutes)
{
    return length_text(minutes, std::round);
}

std::string counted(std::size_t number, const std::string& noun)
{
    return join(number, " ", noun, number == 1 ? "" : "s");
}

std::string bytes_text(double bytes, Prefixes prefixes)
{
    return with_prefix(bytes, "B", prefixes);
}

std::string speed_text(double bytes_per_s, Prefixes prefixes)
{
    return with_prefix(bytes_per_s, "B/s", prefixes);
}

std::string operations_text(double operations_per_s)
{
    return with_prefix(operations_per_s, "/s");
}

std::string table_text(const std::vector<std::vector<std::string>>& lines, std::size_t left)
{
    std::vector<std::size_t> widths(lines.at(0).size());
    for (const auto& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    std::string text;
    for (const auto& line : lines) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const std::string room(widths[i] - line[i].size(), ' ');
            row += (i == 0 ? "" : "  ") + (i < left ? line[i] + room : room + line[i]);
        }
        text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

}  // namespace base
