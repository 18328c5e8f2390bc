// SPDX-License-Identifier: Apache-2.0
// Details in the trace below the level of phases: modules and operators, in all or some steps. The model that executes
// them reports them.
#pragma once

#include "trace-tools/gpu/recording/gpu_recording.hpp"
#include "trace-tools/otf2/write/recorder.hpp"
#include "trace-tools/training/phase_clock.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>

namespace ddl {

// L0: only phases and buckets; L1: also the modules of our models; L2: also the operators that modules call; L3: also
// the operators that operators call.
enum class DetailLevel { L0, L1, L2, L3 };

// Throws UsageError unless `text` is one of L0 to L3.
DetailLevel parse_detail_level(const std::string& text);
std::string text(DetailLevel level);

// Steps first, first + every, ... before end.
struct TraceSteps {
    std::uint64_t first = 0;
    std::uint64_t end = UINT64_MAX;
    std::uint64_t every = 1;

    bool contains(std::uint64_t step) const { return step >= first && step < end && (step - first) % every == 0; }
};

// Parses "100:200:10" or "100:200"; empty: all steps. Throws UsageError.
TraceSteps parse_trace_steps(const std::string& text);

class Details : public training::PhaseListener {
 public:
    enum class Kind { module, operation };
    static constexpr std::int64_t no_sequence = -1;

    // Call on the main thread, whose regions are recorded at `main`; other threads get their own locations. If `gpu` is
    // set, GPU work that operators start is recorded with the operator's number.
    Details(otf2::Recorder& recorder, otf2::LocationRecorder& main, DetailLevel level, const TraceSteps& steps,
            gpu::GpuRecording* gpu = nullptr);
    Details(const Details&) = delete;
    Details& operator=(const Details&) = delete;

    DetailLevel level() const { return level_; }

    // `listener` is called when recording of details begins (true) and ends (false), both at the boundary of a step.
    void tell(std::function<void(bool)> listener) { listener_ = std::move(listener); }

    // Opens a region that the matching leave() on the same thread closes. The name may be a temporary. A sequence
    // number is recorded as attribute `seq`, counted from the first one in the step (small numbers take few bytes),
    // unless the enclosing region has recorded the same: forward's operators share theirs with the node of backward
    // that they create.
    void enter(Kind kind, const char* name, std::int64_t sequence = no_sequence);
    // Opens a region that is not recorded and does not count as an operator.
    void enter_unseen();
    void leave();

    bool on() const { return on_; }

    // Called by the main thread's PhaseClock. Regions still open when a phase ends are closed with the phase.
    void begin_step(std::uint64_t step) override;
    void end_step() override;
    void end_phase(std::int64_t at_ns) override;

 private:
    struct OfThread;
    OfThread& here();
    std::int64_t in_step(std::int64_t sequence);
    void turn(bool on);

    otf2::Recorder& recorder_;
    otf2::LocationRecorder& main_;
    gpu::GpuRecording* gpu_;
    otf2::AttributeRef sequence_;
    otf2::AttributeRef external_id_;
    DetailLevel level_;
    TraceSteps steps_;
    std::thread::id main_thread_;
    std::uint64_t number_;  // serial number of this object in the process
    std::function<void(bool)> listener_;
    bool on_ = false;
    std::atomic<std::int64_t> first_sequence_ = no_sequence;  // first sequence number of the current step
};

// A module or an operator for the lifetime of the object; `details` may be null.
class DetailScope {
 public:
    DetailScope(Details* details, Details::Kind kind, const char* name)
        : details_{details != nullptr && details->on() ? details : nullptr}
    {
        if (details_ != nullptr) details_->enter(kind, name);
    }
    ~DetailScope()
    {
        if (details_ != nullptr) details_->leave();
    }
    DetailScope(const DetailScope&) = delete;
    DetailScope& operator=(const DetailScope&) = delete;

 private:
    Details* details_;
};

}  // namespace ddl
