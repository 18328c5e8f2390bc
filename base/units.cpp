// SPDX-License-Identifier: Apache-2.0
#include "base/units.hpp"

#include "base/error.hpp"
#include "base/words.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace base {

namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr std::array<Unit, 7> time_units{
    {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"m", 60e9}, {"h", 3600e9}}};
constexpr std::array<Unit, 9> byte_units{{{"B", 1.0},
                                          {"kB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12},
                                          {"KiB", 1024.0},
                                          {"MiB", 1048576.0},
                                          {"GiB", 1073741824.0},
                                          {"TiB", 1099511627776.0}}};

// Reads a leading non-negative decimal number and removes it from `text`.
double take_number(std::string_view& text, std::string_view whole, std::string_view example)
{
    double number = 0.0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || !std::isfinite(number) || number < 0.0)
        fail_usage("'", whole, "' is not a number with a unit, such as ", example);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    text = trim(text);
    return number;
}

template <class Units>
double with_unit(std::string_view text, const Units& units, std::string_view what, std::string_view example)
{
    const std::string_view whole = text;
    const double number = take_number(text, whole, example);
    if (text.empty() && number == 0.0) return 0.0;
    for (const Unit& unit : units) {
        if (unit.name != text) continue;
        const double value = number * unit.factor;
        if (value >= static_cast<double>(std::numeric_limits<std::int64_t>::max()))
            fail_usage("'", whole, "' is too large");
        return value;
    }
    if (text.empty()) fail_usage("'", whole, "' lacks a unit of ", what, ", such as ", example);
    fail_usage("'", whole, "' has no unit of ", what, ", such as ", example);
}

template <class Number>
Number whole_number(std::string_view text)
{
    text = trim(text);
    Number number{};
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc::result_out_of_range) fail_usage("'", text, "' is too large");
    if (code != std::errc{} || end != text.data() + text.size()) fail_usage("'", text, "' is not a whole number");
    return number;
}

// The shortest text that reads back as the same number.
std::string shortest(double number)
{
    std::array<char, 32> text{};
    const auto [end, code] = std::to_chars(text.data(), text.data() + text.size(), number);
    return {text.data(), code == std::errc{} ? end : text.data()};
}

}  // namespace

template <>
Nanoseconds parse(std::string_view text)
{
    return Nanoseconds{std::llround(with_unit(trim(text), time_units, "time", "1.5s"))};
}

template <>
Bytes parse(std::string_view text)
{
    return Bytes{std::llround(with_unit(trim(text), byte_units, "bytes", "64MiB"))};
}

template <>
Rate parse(std::string_view text)
{
    const std::string_view whole = trim(text);
    if (whole == "0") return {};
    if (!whole.ends_with("/s")) fail_usage("'", whole, "' is not a rate, such as 4GiB/s or 2000/s");
    std::string_view amount = trim(whole.substr(0, whole.size() - 2));
    std::string_view rest = amount;
    const double number = take_number(rest, whole, "4GiB/s");
    if (rest.empty()) return {number, Rate::Of::operations};
    return {with_unit(amount, byte_units, "bytes", "4GiB/s"), Rate::Of::bytes};
}

template <>
Percent parse(std::string_view text)
{
    const std::string_view whole = trim(text);
    std::string_view rest = whole;
    const double number = take_number(rest, whole, "30%");
    if (rest != "%" && !(rest.empty() && number == 0.0)) fail_usage("'", whole, "' is not a percentage, such as 30%");
    return {number};
}

template <>
std::int64_t parse(std::string_view text)
{
    return whole_number<std::int64_t>(text);
}
template <>
int parse(std::string_view text)
{
    return whole_number<int>(text);
}
template <>
std::uint64_t parse(std::string_view text)
{
    return whole_number<std::uint64_t>(text);
}

template <>
double parse(std::string_view text)
{
    text = trim(text);
    double number = 0.0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(number))
        fail_usage("'", text, "' is not a number");
    return number;
}

template <>
bool parse(std::string_view text)
{
    text = trim(text);
    if (text == "yes" || text == "on" || text == "true" || text == "1") return true;
    if (text == "no" || text == "off" || text == "false" || text == "0") return false;
    fail_usage("'", text, "' is neither yes nor no");
}

template <>
std::string parse(std::string_view text)
{
    return std::string{trim(text)};
}

namespace {

// The largest unit in which the value has at most three decimals; else the smallest.
template <class Units>
std::string in_units(double value, const Units& units, std::string_view zero)
{
    if (value == 0.0) return std::string{zero};
    const Unit* best = nullptr;
    for (const Unit& unit : units) {
        const double scaled = value / unit.factor;
        const double thousandths = scaled * 1000.0;
        const bool exact = std::abs(thousandths - std::round(thousandths)) < 1e-9 * std::abs(thousandths);
        if (std::abs(scaled) >= 1.0 && exact && (best == nullptr || unit.factor > best->factor)) best = &unit;
    }
    if (best == nullptr) best = &units.front();
    return shortest(value / best->factor) + std::string{best->name};
}

}  // namespace

std::int64_t parse_difference_ns(std::string_view text)
{
    const bool negative = text.starts_with('-');
    const std::int64_t ns = parse<Nanoseconds>(text.substr(negative ? 1 : 0)).count();
    return negative ? -ns : ns;
}

std::string format(Nanoseconds time)
{
    constexpr std::array<Unit, 4> units{time_units[0], time_units[1], time_units[2], time_units[3]};
    return in_units(static_cast<double>(time.count()), units, "0s");
}

std::string format(Bytes bytes)
{
    constexpr std::array<Unit, 5> units{byte_units[0], byte_units[5], byte_units[6], byte_units[7], byte_units[8]};
    constexpr std::array<Unit, 5> decimal{byte_units[0], byte_units[1], byte_units[2], byte_units[3], byte_units[4]};
    const auto value = static_cast<double>(bytes.count);
    const std::string binary_text = in_units(value, units, "0B");
    const std::string decimal_text = in_units(value, decimal, "0B");
    return decimal_text.size() < binary_text.size() ? decimal_text : binary_text;
}

std::string format(Rate rate)
{
    if (rate.of == Rate::Of::operations) return shortest(rate.per_second) + "/s";
    return format(Bytes{std::llround(rate.per_second)}) + "/s";
}

std::string format(Percent percent)
{
    return shortest(percent.value) + "%";
}
std::string format(double number)
{
    return shortest(number);
}
std::string format(std::int64_t number)
{
    return std::to_string(number);
}
std::string format(int number)
{
    return std::to_string(number);
}
std::string format(std::uint64_t number)
{
    return std::to_string(number);
}
std::string format(bool truth)
{
    return truth ? "yes" : "no";
}
std::string format(const std::string& text)
{
    return text;
}

}  // namespace base
