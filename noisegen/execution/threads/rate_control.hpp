// SPDX-License-Identifier: Apache-2.0
// Holds a stressor to a rate by a token bucket that makes up for missed work slowly, or not at all.
#pragma once

#include "base/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace noisegen {

// Virtual scheduling (the "leaky bucket as a meter" of ITU-T I.371): `due` is when the work done so far would have
// ended at the exact rate; the stressor sleeps until then. Work missed in a stall of up to `jitter_ns`, typically
// another thread's time slice, is done immediately, since most windows of a tenth of a second contain both and so keep
// the requested rate. Work missed in a longer stall is owed, and done at `haste` above the rate. Debt beyond
// `most_owed_ns` is dropped, so that no long stall is followed by a burst.
class RateControl {
 public:
    static constexpr double jitter_ns = 10e6;
    static constexpr double most_owed_ns = 100e6;
    static constexpr double haste = 0.015;

    enum class Arrival {
        fixed,
        poisson,  // steps are a Poisson process, with exponential times between them
    };

    // per_second must be positive.
    explicit RateControl(double per_second, Arrival arrival = Arrival::fixed, std::uint64_t seed = 0)
        : ns_per_unit_{1e9 / per_second}, arrival_{arrival}, random_{seed}
    {
    }

    // Begins a slot. Excess work of the last slot delays the first step; missed work is still owed.
    void begin(std::int64_t now_ns)
    {
        begin_ns_ = now_ns;
        due_ns_ = ahead_ns_;
    }

    // Time at which the next step may begin.
    std::int64_t due() const { return begin_ns_ + std::llround(due_ns_); }

    // Called when a step begins: decides by its lateness whether missed work is done immediately or owed.
    void before(std::int64_t now_ns)
    {
        const double now = static_cast<double>(now_ns - begin_ns_);
        const double late = now - due_ns_;
        if (late <= jitter_ns) return;
        owed_ns_ = std::min(owed_ns_ + late, most_owed_ns);
        due_ns_ = now;
    }

    // Called when a step has done `amount`; returns when the next one may begin.
    std::int64_t after(double amount)
    {
        double share_ns = amount * ns_per_unit_;
        if (arrival_ == Arrival::poisson) share_ns *= -std::log1p(-base::draw_unit(random_));
        const double made_up_ns = std::min(owed_ns_, share_ns * haste);
        owed_ns_ -= made_up_ns;
        due_ns_ += share_ns - made_up_ns;
        return due();
    }

    // Called at the end of the slot.
    void end(std::int64_t now_ns)
    {
        const auto now = static_cast<double>(now_ns - begin_ns_);
        ahead_ns_ = std::max(0.0, due_ns_ - now);
        owed_ns_ = std::min(owed_ns_ + std::max(0.0, now - due_ns_), most_owed_ns);
    }

 private:
    double ns_per_unit_;
    Arrival arrival_;
    base::Random random_;
    std::int64_t begin_ns_ = 0;
    double due_ns_ = 0.0;  // relative to begin_ns_
    double ahead_ns_ = 0.0;
    double owed_ns_ = 0.0;
};

}  // namespace noisegen
