// SPDX-License-Identifier: Apache-2.0
// Bursts of a duty cycle: on for a share of each period, on a time grid that all CPUs and nodes share.
#pragma once

#include "base/units.hpp"

#include <algorithm>
#include <cstdint>

namespace noisegen {

// Times are ns since the start of the run. If a burst was too long (its last step) or too short (a late start), the
// next bursts compensate, so that the mean duty is exact; each compensates by at most a tenth of a burst.
class Bursts {
 public:
    Bursts(base::Percent duty, base::Nanoseconds period)
        : period_ns_{period.count()},
          on_ns_{static_cast<std::int64_t>(static_cast<double>(period.count()) * duty.fraction())}
    {
    }

    struct Burst {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        std::int64_t expected_ns = 0;  // planned length of the burst
        std::int64_t period_end = 0;
        bool whole = true;  // not cut off by the end of the slot
    };

    // The burst in progress at `now`, or else the next one, cut off at `slot_end`. Its start is not before `now`; if
    // begin >= slot_end, no burst is left in the slot.
    Burst next(std::int64_t now, std::int64_t slot_end)
    {
        if (on_ns_ >= period_ns_) return {now, slot_end, slot_end - now, slot_end, false};
        std::int64_t period = std::max(now, done_until_) / period_ns_ * period_ns_;
        while (true) {
            const std::int64_t from = std::max(period, now);
            const std::int64_t expected = std::min(period + on_ns_, slot_end) - from;
            if (from >= slot_end || expected > surplus_ns_)
                return {std::min(from, slot_end), std::min(from + expected - surplus_ns_, slot_end), expected,
                        period + period_ns_, period + on_ns_ <= slot_end};
            if (expected > 0) surplus_ns_ -= expected;
            period += period_ns_;
        }
    }

    // Reports the actual length of the burst.
    void done(const Burst& burst, std::int64_t on_ns)
    {
        if (on_ns_ >= period_ns_) return;
        surplus_ns_ = std::max(surplus_ns_ + on_ns - burst.expected_ns, -on_ns_ / 10);
        if (burst.whole) done_until_ = burst.period_end;
    }

 private:
    std::int64_t period_ns_;
    std::int64_t on_ns_;
    std::int64_t surplus_ns_ = 0;  // total excess of on time so far; negative: deficit
    std::int64_t done_until_ = 0;
};

}  // namespace noisegen
