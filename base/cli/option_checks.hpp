// SPDX-License-Identifier: Apache-2.0
// Checks of option values, with error messages for users.
#pragma once

#include "base/error.hpp"
#include "base/units.hpp"

#include <string>

namespace base {

constexpr int most_threads = 1024;  // limit for threads of one kind in one process

// Parses an option's text; errors name the option.
template <class T>
T parsed(const char* option, const std::string& text)
{
    try {
        return parse<T>(text);
    } catch (const UsageError& error) {
        fail_usage(option, ": ", error.what());
    }
}

// Parses a signed time, such as "1.5s" or "-20ms"; errors name the option.
inline std::int64_t parsed_difference_ns(const char* option, const std::string& text)
{
    try {
        return parse_difference_ns(text);
    } catch (const UsageError& error) {
        fail_usage(option, ": ", error.what());
    }
}

template <class Number>
void check_at_least(Number least, Number value, const char* option)
{
    if (value < least) fail_usage(option, " must be at least ", least, ", not ", value);
}

template <class Number>
void check_within(Number least, Number most, Number value, const char* option)
{
    check_at_least(least, value, option);
    if (value > most) fail_usage(option, " must be at most ", most, ", not ", value);
}

}  // namespace base
