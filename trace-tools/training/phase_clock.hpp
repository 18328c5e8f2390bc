// SPDX-License-Identifier: Apache-2.0
// The phases of a training step: they partition it exactly, in the trace as in steps.csv.
#pragma once

#include "base/contract/control_file.hpp"
#include "base/system/clock.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace training {

using Phase = base::TrainingPhase;

// In the order of the columns of steps.csv.
constexpr auto phases = [] {
    std::array<Phase, base::recorded_phases.size() + 1> all{};
    std::copy(base::recorded_phases.begin(), base::recorded_phases.end(), all.begin());
    all.back() = Phase::other;
    return all;
}();

using base::text;

// Times in ns on CLOCK_MONOTONIC. The phases' times add up to end - begin.
struct StepTimes {
    std::uint64_t step = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::array<std::int64_t, phases.size()> phase_ns{};

    std::int64_t& of(Phase phase);
    std::int64_t of(Phase phase) const;
    std::int64_t without_control_ns() const;  // less control_delay and control_settle
};

// Called for the cuts, on the thread that makes them.
class PhaseListener {
 public:
    virtual ~PhaseListener() = default;
    virtual void begin_step(std::uint64_t) {}
    virtual void entered(Phase, std::uint64_t /*step*/) {}  // the phase has just begun
    virtual void end_phase(std::int64_t /*at_ns*/) {}       // .. is about to end
    virtual void end_step() {}
};

// Cuts a step into phases with one reading of the clock at each cut: what one phase loses the next one gains. Time in
// no phase is `other`. Each cut goes to the trace and to the control page. Used by the main thread.
class PhaseClock {
 public:
    // page may be null: nothing is published.
    PhaseClock(otf2::Recorder& recorder, otf2::LocationRecorder& location, base::ControlPage* page);

    void begin_step(std::uint64_t step, std::int64_t at_ns = base::now_ns());
    // Ends the phase that was, if any.
    void enter(Phase phase, std::int64_t at_ns = base::now_ns());
    void leave(std::int64_t at_ns = base::now_ns());
    StepTimes end_step(std::int64_t at_ns = base::now_ns());
    // The program ends inside of the step: it is none, which the archive says at its end.
    void drop_step(std::int64_t at_ns = base::now_ns());

    std::uint64_t step() const { return times_.step; }

    // For any thread: what was entered last, and when. mark(): the main thread is still at work there.
    struct Whereabouts {
        Phase phase = Phase::none;
        std::uint64_t step = 0;
        std::int64_t since_ns = 0;
    };
    Whereabouts whereabouts() const;
    void mark(std::int64_t at_ns = base::now_ns()) { changed_ns_.store(at_ns, std::memory_order_relaxed); }

    // From here on; must live as long.
    void listen(PhaseListener& listener) { listeners_.push_back(&listener); }

 private:
    void cut(Phase next, std::int64_t at_ns);

    otf2::Recorder& recorder_;
    otf2::LocationRecorder& location_;
    base::ControlPage* page_;
    otf2::RegionRef step_region_;
    otf2::AttributeRef step_attribute_;
    std::array<otf2::RegionRef, phases.size()> regions_{};
    StepTimes times_;
    Phase phase_ = Phase::none;
    std::int64_t since_ns_ = 0;
    std::atomic<Phase> now_in_ = Phase::none;
    std::atomic<std::uint64_t> now_at_step_ = 0;
    std::atomic<std::int64_t> changed_ns_ = 0;
    std::vector<PhaseListener*> listeners_;
};

}  // namespace training
