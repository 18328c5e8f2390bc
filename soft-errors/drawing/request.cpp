// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/drawing/request.hpp"

#include "base/cli/option_checks.hpp"
#include "base/error.hpp"
#include "base/words.hpp"

namespace soft_errors {

BitRange parse_bits(const char* option, const std::string& text)
{
    const std::vector<std::string> ends = base::split(text, '-');
    constexpr int most = 63;
    if (ends.empty() || ends.size() > 2) base::fail_usage(option, ": '", text, "' is not a range such as 0-31, or 1");
    const BitRange range{base::parsed<int>(option, ends.front()), base::parsed<int>(option, ends.back())};
    if (range.first < 0 || range.last > most || range.first > range.last)
        base::fail_usage(option, ": '", text, "' is not a range within 0-63, counted from the left");
    return range;
}

}  // namespace soft_errors
