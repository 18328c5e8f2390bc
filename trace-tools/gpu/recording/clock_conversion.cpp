// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/recording/clock_conversion.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

namespace gpu {

namespace {

// Interpolates differences, which fit into the digits of a double; the times themselves do not.
std::int64_t on_line(const ClockPair& from, const ClockPair& to, std::int64_t recorded_ns)
{
    const auto slope =
        static_cast<double>(to.trace_ns - from.trace_ns) / static_cast<double>(to.recorded_ns - from.recorded_ns);
    return from.trace_ns + std::llround(slope * static_cast<double>(recorded_ns - from.recorded_ns));
}

}  // namespace

void ClockConversion::add(const ClockPair& pair)
{
    if (!pairs_.empty() && (pair.recorded_ns <= pairs_.back().recorded_ns || pair.trace_ns <= pairs_.back().trace_ns)) {
        ++left_out_;
        return;
    }
    pairs_.push_back(pair);
    widest_ns_ = std::max(widest_ns_, pair.error_ns);
    if (pairs_.size() < 3) return;
    const ClockPair* const last = &pairs_.back();
    const std::int64_t expected_ns = on_line(last[-2], last[0], last[-1].recorded_ns);
    farthest_ns_ = std::max(farthest_ns_, std::abs(expected_ns - last[-1].trace_ns));
}

std::int64_t ClockConversion::to_trace(std::int64_t recorded_ns) const
{
    if (pairs_.empty()) return recorded_ns;
    if (pairs_.size() == 1) return recorded_ns + (pairs_.front().trace_ns - pairs_.front().recorded_ns);
    const auto after =
        std::upper_bound(std::next(pairs_.begin()), std::prev(pairs_.end()), recorded_ns,
                         [](std::int64_t time_ns, const ClockPair& pair) { return time_ns < pair.recorded_ns; });
    return on_line(*std::prev(after), *after, recorded_ns);
}

}  // namespace gpu
