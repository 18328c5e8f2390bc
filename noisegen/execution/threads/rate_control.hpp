// SPDX-License-Identifier: Apache-2.0
// Holds a stressor to a rate: a token bucket that makes up for what was missed slowly, or not at all.
#pragma once

#include "base/random.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace noisegen {

// Virtual scheduling (the "leaky bucket as a meter" of ITU-T I.371): work at the rate would have ended at `due`; sleep
// until then. What a stall of up to `jitter_ns` missed is made up for at once: most windows of a tenth of a second hold
// both, and so what was asked for. That is what another thread takes of the CPU in its turn. After a longer stall
// nothing is made up for at once: it is owed, and made up for at `haste` above the rate. What is more than
// `most_owed_ns` of it is forgiven: no long stall is followed by a burst.
class RateControl {
 public:
    static constexpr double jitter_ns = 10e6;
    static constexpr double most_owed_ns = 100e6;
    static constexpr double haste = 0.015;

    enum class Arrival {
        fixed,
        poisson,  // the steps are a Poisson process: exponential times between them
    };

    // per_second > 0.
    explicit RateControl(double per_second, Arrival arrival = Arrival::fixed, std::uint64_t seed = 0)
        : ns_per_unit_{1e9 / per_second}, arrival_{arrival}, random_{seed}
    {
    }

    // A slot begins; what the last one did too much is waited for, what it missed is still owed.
    void begin(std::int64_t now_ns)
    {
        begin_ns_ = now_ns;
        due_ns_ = ahead_ns_;
    }

    // When the next step may begin.
    std::int64_t due() const { return begin_ns_ + std::llround(due_ns_); }

    // A step begins: how late it is decides what is made up for.
    void before(std::int64_t now_ns)
    {
        const double now = static_cast<double>(now_ns - begin_ns_);
        const double late = now - due_ns_;
        if (late <= jitter_ns) return;
        owed_ns_ = std::min(owed_ns_ + late, most_owed_ns);
        due_ns_ = now;
    }

    // The step did `amount`: when the next one may begin.
    std::int64_t after(double amount)
    {
        double share_ns = amount * ns_per_unit_;
        if (arrival_ == Arrival::poisson) share_ns *= -std::log1p(-base::draw_unit(random_));
        const double made_up_ns = std::min(owed_ns_, share_ns * haste);
        owed_ns_ -= made_up_ns;
        due_ns_ += share_ns - made_up_ns;
        return due();
    }

    // The slot is over.
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
    double due_ns_ = 0.0;  // since begin_ns_
    double ahead_ns_ = 0.0;
    double owed_ns_ = 0.0;
};

}  // namespace noisegen
