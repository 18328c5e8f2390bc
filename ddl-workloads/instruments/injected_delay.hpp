// SPDX-License-Identifier: Apache-2.0
// A known delay in a phase of one rank's steps: the truth that an analysis can be held against.
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
    std::int64_t every = 1;   // step 0, every, 2 x every ..
    std::int64_t length = 1;  // .. and this number of steps from each of them on
    bool busy = false;        // keeps the CPU, as computing does; else it sleeps, as a late disk or network would
};

// "1:backward:5ms", "0:load:2ms:every=10:busy", "0:load:2ms:every=40:for=20". Throws UsageError.
InjectedDelay parse_injected_delay(const std::string& text);

struct DelayPlan {
    base::Nanoseconds control{0};  // while noisegen's control.delay asks for it; 0: never
    std::vector<InjectedDelay> injected;
};

class DelayOptions {
 public:
    // Adds them; both must outlive it.
    DelayOptions(base::Options& options, DelayPlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    DelayPlan& plan_;
    std::vector<std::string> injected_;
};

// Waits them out at the begin of their phase, one region a delay. Used by the main thread.
class DelayInjector : public training::PhaseListener {
 public:
    // All of them are of this rank.
    DelayInjector(otf2::Recorder& recorder, otf2::LocationRecorder& location, std::vector<InjectedDelay> delays);

    void begin_step(std::uint64_t step) override;

    // The phase has just begun; one that begins several times in a step is delayed once.
    void entered(Phase phase, std::uint64_t step) override;

    std::int64_t count() const { return count_; }
    std::int64_t total_ns() const { return total_ns_; }  // as long as they really were

 private:
    otf2::LocationRecorder& location_;
    otf2::RegionRef region_;
    std::vector<InjectedDelay> delays_;
    std::vector<bool> made_;  // in this step, by delay
    std::int64_t count_ = 0;
    std::int64_t total_ns_ = 0;
};

}  // namespace ddl
