#include "ddl-workloads/instruments/control_delay.hpp"

#include "base/system/clock.hpp"
#include "trace-tools/training/known_delay.hpp"

namespace ddl {

ControlDelay::ControlDelay(base::Nanoseconds delay, base::ControlPage* page, ExchangeThread& exchanges)
    : delay_ns_{delay.count()}, page_{page}, exchanges_{exchanges}
{
}

base::ControlRequest ControlDelay::request_for_next_step(const StepTimes& last)
{
    if (page_ == nullptr) return base::ControlRequest::none;
    page_->acknowledged.fetch_add(1, std::memory_order_relaxed);
    if (exchanges_.rank() != 0) return base::ControlRequest::none;
    const bool this_is_controlled = requested_ != base::ControlRequest::none;
    requested_ =
        base::request_for_next_step(*page_, base::now_ns(), last.without_control_ns(), this_is_controlled, delay_ns_);
    return requested_;
}

void ControlDelay::make(base::ControlRequest agreed, PhaseClock& clock)
{
    if (agreed == base::ControlRequest::none) return;
    training::make_known_delay(agreed, delay_ns_, exchanges_.rank(), clock, [this] {
        exchanges_.barrier().get();
        return true;
    });
    if (page_ != nullptr) page_->controlled.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ddl
