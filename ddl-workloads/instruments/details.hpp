// SPDX-License-Identifier: Apache-2.0
// Details of a trace inside the phases: modules and operators, in all steps or in some of them. Which ones there are is
// reported by the model that runs them.
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

// L0: phases and buckets alone; L1: also the modules of our models; L2: also the operators that these call; L3: also
// the operators that operators call.
enum class DetailLevel { L0, L1, L2, L3 };

// Throws UsageError for what is none of L0 to L3.
DetailLevel parse_detail_level(const std::string& text);
std::string text(DetailLevel level);

// Steps first, first + every, ... before end.
struct TraceSteps {
    std::uint64_t first = 0;
    std::uint64_t end = UINT64_MAX;
    std::uint64_t every = 1;

    bool contains(std::uint64_t step) const { return step >= first && step < end && (step - first) % every == 0; }
};

// "100:200:10" or "100:200"; empty: all steps. Throws UsageError.
TraceSteps parse_trace_steps(const std::string& text);

class Details : public training::PhaseListener {
 public:
    enum class Kind { module, operation };
    static constexpr std::int64_t no_sequence = -1;

    // Made on the main thread, whose regions go to `main`; other threads get locations of their own. With `gpu`, if
    // any, what operators ask of a GPU has their number.
    Details(otf2::Recorder& recorder, otf2::LocationRecorder& main, DetailLevel level, const TraceSteps& steps,
            gpu::GpuRecording* gpu = nullptr);
    Details(const Details&) = delete;
    Details& operator=(const Details&) = delete;

    DetailLevel level() const { return level_; }

    // Called when details begin to be recorded (true) and when they end (false); both at the edges of a step.
    void tell(std::function<void(bool)> listener) { listener_ = std::move(listener); }

    // From here to the leave() that belongs to it, on the same thread. The name may be a temporary. What has a sequence
    // number shows it as attribute `seq`, counted from the first one of the step (small numbers take few bytes), unless
    // what it lies in has shown the same: forward's operators and the node of backward that they made have the same
    // one.
    void enter(Kind kind, const char* name, std::int64_t sequence = no_sequence);
    // The same for what shall not be seen and does not count as an operator.
    void enter_unseen();
    void leave();

    bool on() const { return on_; }

    // Calls of the main thread's PhaseClock. Regions still open when a phase ends are ended with it.
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
    std::uint64_t number_;  // of all of this process, one after the other
    std::function<void(bool)> listener_;
    bool on_ = false;
    std::atomic<std::int64_t> first_sequence_ = no_sequence;  // of the step
};

// A module or an operator from here to the brace; details may be null.
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
