// SPDX-License-Identifier: Apache-2.0
#include "base/contract/verdict_words.hpp"

namespace base {

std::string judge(const Interval& interval, double budget_percent)
{
    if (interval.high < budget_percent) return verdict_word::safe;
    if (interval.low > budget_percent) return verdict_word::unsafe;
    return verdict_word::undecided;
}

}  // namespace base
