// SPDX-License-Identifier: Apache-2.0
// Numbers as text for people to read, rounded; files use exact text.
#pragma once

#include "base/statistics.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace base {

std::string fixed(double number, int digits);  // "-3.10"; never "-0.00"

std::string percent(double number);                     // "3.14 %", "31.4 %"; two digits below ten
std::string percent(double number, int digits);         // "3.1 %"
std::string signed_percent(double number);              // "+3.14 %"; zero has no sign
std::string signed_percent(double number, int digits);  // "+3.1 %"

std::string range(const Interval& percent);   // "2.4 to 3.8 %"
std::string p_value(double p);                // "0.012", "< 0.001"
std::string length_needed(double minutes);    // rounded up: "150 s", "14 min", "3 h", "more than a day"
std::string length_measured(double minutes);  // rounded to the nearest

std::string counted(std::size_t number, const std::string& noun);  // "1 block", "2 blocks"

enum class Prefixes { decimal, binary };

// "3.21 GB", or "2.99 GiB" with binary prefixes; three digits.
std::string bytes_text(double bytes, Prefixes prefixes = Prefixes::decimal);

// "3.21 GB/s", with the same prefixes and digits.
std::string speed_text(double bytes_per_s, Prefixes prefixes = Prefixes::decimal);

// "1.23 M/s"; three digits.
std::string operations_text(double operations_per_s);

// A table as text, padded so that columns align: the first `left` columns to the left, the others to the right. Every
// line must have as many cells as the first.
std::string table_text(const std::vector<std::vector<std::string>>& lines, std::size_t left);

}  // namespace base
