#include "ddl-workloads/instruments/control_delay.hpp"

#include "base/system/waiting.hpp"

namespace ddl {

namespace {

// Ranks leave the barrier one after the other, and threads of theirs have work left. A delay would hide that work and
// so cost less than it lasts (ranks that share a core: 3.7 % instead of 4.9 %). Hence all rest first, in sham steps
// too.
constexpr std::int64_t settle_ns = 2'000'000;

}  // namespace

ControlDelay::ControlDelay(base::Nanoseconds delay, base::ControlPage* page, ExchangeThread& exchanges)
    : delay_ns_{delay.count()}, page_{page}, exchanges_{exchanges}
{
}

base::ControlRequest ControlDelay::wish(std::int64_t last_step_ns)
{
    if (page_ == nullptr) return base::ControlRequest::none;
    page_->acknowledged.fetch_add(1, std::memory_order_relaxed);
    if (exchanges_.rank() != 0 || last_step_ns == 0) return base::ControlRequest::none;
    const std::int64_t now = base::now_ns();
    const std::int64_t next_ends = now + 2 * last_step_ns + settle_ns + delay_ns_;
    if (next_ends > page_->slot_end_ns.load(std::memory_order_relaxed)) return base::ControlRequest::none;
    return base::request(*page_, now);
}

void ControlDelay::obey(base::ControlRequest agreed, PhaseClock& clock)
{
    if (agreed == base::ControlRequest::none) return;
    clock.enter(Phase::control_settle);
    exchanges_.barrier().get();
    if (exchanges_.rank() == 0) {
        sleep_through(base::now_ns() + settle_ns);
        if (agreed == base::ControlRequest::delay) {
            clock.enter(Phase::control_delay);
            sleep_through(base::now_ns() + delay_ns_);
            clock.enter(Phase::control_settle);
        }
    }
    exchanges_.barrier().get();
    clock.leave();
    if (page_ != nullptr) page_->controlled.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace ddl
