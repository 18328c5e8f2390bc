// Holds a stressor back to a rate: a token bucket with bounded catch-up.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace noisegen {

// Virtual scheduling (the "leaky bucket as a meter" of ITU-T I.371): work at the rate would have ended at `due_ns`;
// sleep until then. Overslept time is made up for, but never more than `catch_up_ns` of it, so that a stall is not
// followed by a burst.
class RateControl {
 public:
    static constexpr double catch_up_ns = 10e6;

    // per_second > 0. debt_ns: how long to wait before the first step, for work done too early in an earlier phase.
    RateControl(double per_second, std::int64_t begin_ns, double debt_ns = 0.0)
        : ns_per_unit_{1e9 / per_second}, begin_ns_{begin_ns}, due_ns_{debt_ns}
    {
    }

    // When the next step may begin.
    std::int64_t due() const { return begin_ns_ + std::llround(due_ns_); }

    // What a phase that ends now owes to the next one at the same rate: without it every short phase would do one step
    // too much.
    double debt_ns(std::int64_t now_ns) const
    {
        return std::max(0.0, due_ns_ - static_cast<double>(now_ns - begin_ns_));
    }

    // After `amount` was done: when the next step may begin.
    std::int64_t after(double amount, std::int64_t now_ns)
    {
        const auto now = static_cast<double>(now_ns - begin_ns_);
        due_ns_ = std::max(due_ns_, now - catch_up_ns) + amount * ns_per_unit_;
        return due();
    }

 private:
    double ns_per_unit_;
    std::int64_t begin_ns_;
    double due_ns_;  // since begin_ns_
};

}  // namespace noisegen
