// SPDX-License-Identifier: Apache-2.0
// The built-in positive control: a known delay, requested through the control file and the same for all ranks; and its
// sham: the same barriers and rests without the delay. Where ranks do not wait for each other's news there are no
// barriers, and every rank makes the delay. Steps outside the slots of control.delay and control.sham are untouched.
#include "base/system/clock.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"
#include "trace-tools/training/known_delay.hpp"

namespace ddl {

namespace {

// Rank 0 reads the request at the beginning of a step and posts it on the step's news board; all ranks call
// make_known_delay() in the step in which they receive it.
class ControlDelay : public Hook {
 public:
    explicit ControlDelay(const HookParts& parts)
        : delay_ns_{parts.plan.delays.control.count()},
          page_{parts.page},
          board_{parts.board},
          slot_{parts.board.add<base::ControlRequest>()}
    {
    }

    void post(StepContext& context) override
    {
        if (over_ || page_ == nullptr) return;
        page_->steps_ahead.store(static_cast<std::uint32_t>(board_.lag()), std::memory_order_relaxed);
        page_->acknowledged.fetch_add(1, std::memory_order_relaxed);
        if (context.exchanges.rank() != 0) return;
        // No request if, going by the length of the last step, the controlled step would not end within its slot.
        const bool this_is_controlled = requested_ != base::ControlRequest::none;
        requested_ = base::request_for_next_step(*page_, base::now_ns(), last_.without_control_ns(), this_is_controlled,
                                                 delay_ns_, board_.lag());
        slot_.post(requested_);
    }

    // A rest, the delay (phase control_delay) or none, and another rest. Everything except the delay belongs to phase
    // control_settle.
    void before_step(StepContext& context) override
    {
        const std::vector<base::ControlRequest> agreed = slot_.received();
        if (!context.state.at_once || agreed.empty() || agreed.front() == base::ControlRequest::none) return;
        const bool alone = board_.waits_less();
        training::make_known_delay(agreed.front(), delay_ns_, alone ? 0 : context.exchanges.rank(), context.clock, [&] {
            if (!alone) context.exchanges.barrier().get();
            return true;
        });
        if (page_ != nullptr) page_->controlled.fetch_add(1, std::memory_order_relaxed);
    }

    void end_step(StepContext&, const StepTimes& times) override { last_ = times; }

    void after_last_step(StepContext&) override { over_ = true; }

 private:
    std::int64_t delay_ns_;
    base::ControlPage* page_;
    const NewsBoard& board_;
    NewsBoard::Slot<base::ControlRequest> slot_;
    base::ControlRequest requested_ = base::ControlRequest::none;  // rank 0: the last request that it posted
    StepTimes last_;                                               // zero until the first step has ended
    bool over_ = false;
};

}  // namespace

namespace hook {

extern const HookCard control_delay{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> {
        if (parts.plan.delays.control.count() == 0) return nullptr;
        return std::make_shared<ControlDelay>(parts);
    },
};

}  // namespace hook

}  // namespace ddl
