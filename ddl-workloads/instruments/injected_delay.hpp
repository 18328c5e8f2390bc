// SPDX-License-Identifier: Apache-2.0
// A known delay in a phase of one rank's steps: a true value against which an analysis can be tested.
#pragma once

#include "base/cli/options.hpp"
#include "ddl-workloads/instruments/phases.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ddl {

struct InjectedDelay {
    int rank = 0;
    Phase phase = Phase::none;
    base::Nanoseconds time{0};
    std::int64_t every = 1;   // delays steps 0, every, 2 x every, ...
    std::int64_t length = 1;  // .. and the following steps, this many in total each time
    bool busy = false;        // uses the CPU, like computing; otherwise sleeps, like a slow disk or network
};

// Parses "1:backward:5ms", "0:load:2ms:every=10:busy" or "0:load:2ms:every=40:for=20". Throws UsageError.
InjectedDelay parse_injected_delay(const std::string& text);

struct DelayPlan {
    base::Nanoseconds control{0};  // made when noisegen's control.delay requests it; 0: never
    std::vector<InjectedDelay> injected;
};

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_delay_options(base::Options& options, DelayPlan& plan);

// Makes the delays at the start of their phases, recorded as one region for each. Used by the main thread.
class DelayInjector : public training::PhaseListener {
 public:
    // `delays` are those of this rank.
    DelayInjector(otf2::Recorder& recorder, otf2::LocationRecorder& location, std::vector<InjectedDelay> delays);

    void begin_step(std::uint64_t step) override;

    // Called when the phase has just begun. A phase that begins several times in a step is delayed once.
    void entered(Phase phase, std::uint64_t step) override;

    std::int64_t count() const { return count_; }
    std::int64_t total_ns() const { return total_ns_; }  // measured total length

 private:
    otf2::LocationRecorder& location_;
    otf2::RegionRef region_;
    std::vector<InjectedDelay> delays_;
    std::vector<bool> made_;  // by delay: already made in this step
    std::int64_t count_ = 0;
    std::int64_t total_ns_ = 0;
};

}  // namespace ddl
