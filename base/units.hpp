// SPDX-License-Identifier: Apache-2.0
// Quantities as users write them: 64MiB, 1.5s, 4GiB/s, 30%. A number needs a unit; where zero means the same in all
// units, 0 may stand alone.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

using Nanoseconds = std::chrono::nanoseconds;

struct Bytes {
    std::int64_t count = 0;
    auto operator<=>(const Bytes&) const = default;
};

// An amount per second: bytes ("4GiB/s") or operations ("2000/s"), as `of` says.
struct Rate {
    enum class Of { bytes, operations };
    double per_second = 0.0;
    Of of = Of::bytes;
    auto operator<=>(const Rate&) const = default;
};

struct Percent {
    double value = 0.0;  // 30 for "30%"
    double fraction() const { return value / 100.0; }
    auto operator<=>(const Percent&) const = default;
};

// Throws UsageError that names the text and shows a valid example. `parse<T>(text)` exists for T = Nanoseconds (ns, us,
// ms, s, m, min, h), Bytes (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), Rate, Percent, std::int64_t, int, std::uint64_t,
// double, bool, std::string.
template <class T>
T parse(std::string_view text);
template <>
Nanoseconds parse(std::string_view text);
template <>
Bytes parse(std::string_view text);
template <>
Rate parse(std::string_view text);
template <>
Percent parse(std::string_view text);
template <>
std::int64_t parse(std::string_view text);
template <>
int parse(std::string_view text);
template <>
std::uint64_t parse(std::string_view text);
template <>
double parse(std::string_view text);
template <>
bool parse(std::string_view text);
template <>
std::string parse(std::string_view text);

// A signed time in ns from text such as "1.5s" or "-20ms". Throws as parse() does.
std::int64_t parse_difference_ns(std::string_view text);

// The shortest exact text: format(Bytes{67108864}) is "64MiB", format(1500ms) is "1.5s".
std::string format(Nanoseconds time);
std::string format(Bytes bytes);
std::string format(Rate rate);
std::string format(Percent percent);
std::string format(double number);
std::string format(std::int64_t number);
std::string format(int number);
std::string format(std::uint64_t number);
std::string format(bool truth);
std::string format(const std::string& text);

inline double seconds(Nanoseconds time)
{
    return std::chrono::duration<double>(time).count();
}

}  // namespace base
