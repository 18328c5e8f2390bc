// SPDX-License-Identifier: Apache-2.0
// The phases of a training step. They partition the step exactly, in the trace and in steps.csv.
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

// Phases in the order of the columns of steps.csv.
constexpr auto phases = [] {
    std::array<Phase, base::recorded_phases.size() + 1> all{};
    std::copy(base::recorded_phases.begin(), base::recorded_phases.end(), all.begin());
    all.back() = Phase::other;
    return all;
}();

using base::text;

// Times in ns on CLOCK_MONOTONIC. The times of all phases add up to end - begin.
struct StepTimes {
    std::uint64_t step = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    std::array<std::int64_t, phases.size()> phase_ns{};

    std::int64_t& of(Phase phase);
    std::int64_t of(Phase phase) const;
    std::int64_t without_control_ns() const;  // without control_delay and control_settle
};

// Callbacks at the start and end of steps and phases, on the thread that marks them.
class PhaseListener {
 public:
    virtual ~PhaseListener() = default;
    virtual void begin_step(std::uint64_t) {}
    virtual void entered(Phase, std::uint64_t /*step*/) {}  // the phase has just begun
    virtual void end_phase(std::int64_t /*at_ns*/) {}       // the phase is about to end
    virtual void end_step() {}
};

// Divides a step into phases with one clock reading at each boundary, so that no time is lost between phases. Time in
// no phase counts as `other`. Each boundary is written to the trace and to the control page. Used by the main thread.
class PhaseClock {
 public:
    // `page` may be null: nothing is published.
    PhaseClock(otf2::Recorder& recorder, otf2::LocationRecorder& location, base::ControlPage* page);

    void begin_step(std::uint64_t step, std::int64_t at_ns = base::now_ns());
    // Ends the current phase, if any, and begins this one.
    void enter(Phase phase, std::int64_t at_ns = base::now_ns());
    void leave(std::int64_t at_ns = base::now_ns());
    StepTimes end_step(std::int64_t at_ns = base::now_ns());
    // The program ends within the step, so the step does not count; the archive records this at its end.
    void drop_step(std::int64_t at_ns = base::now_ns());

    std::uint64_t step() const { return times_.step; }

    // May be called from any thread: the phase entered last, and when. mark() reports that the main thread is still
    // making progress in it.
    struct Whereabouts {
        Phase phase = Phase::none;
        std::uint64_t step = 0;
        std::int64_t since_ns = 0;
    };
    Whereabouts whereabouts() const;
    void mark(std::int64_t at_ns = base::now_ns()) { changed_ns_.store(at_ns, std::memory_order_relaxed); }

    // Calls `listener` from now on; it must outlive the clock.
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
