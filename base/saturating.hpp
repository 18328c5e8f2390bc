// SPDX-License-Identifier: Apache-2.0
// Sums and differences that saturate at the largest or smallest number instead of overflowing, for numbers from a
// damaged file.
#pragma once

#include <cstdint>

namespace base {

inline std::int64_t saturated_sum(std::int64_t a, std::int64_t b)
{
    std::int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

inline std::int64_t saturated_difference(std::int64_t a, std::int64_t b)
{
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? (b > 0 ? INT64_MIN : INT64_MAX) : difference;
}

}  // namespace base
