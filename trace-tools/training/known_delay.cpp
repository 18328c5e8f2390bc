// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/training/known_delay.hpp"

#include "base/system/waiting.hpp"

namespace training {

bool make_known_delay(base::ControlRequest request, std::int64_t delay_ns, int rank, PhaseClock& clock,
                      const std::function<bool()>& barrier)
{
    if (request == base::ControlRequest::none) return true;
    clock.enter(Phase::control_settle);
    bool together = barrier();
    std::int64_t after_ns = 0;
    if (together && rank == 0) {
        base::sleep_through(base::now_ns() + base::control_rest_ns);
        after_ns = base::now_ns();
        if (request == base::ControlRequest::delay) {
            clock.enter(Phase::control_delay, after_ns);
            base::sleep_through(after_ns + delay_ns);
            after_ns = base::now_ns();
            clock.enter(Phase::control_settle, after_ns);
        }
    }
    // While the other ranks waited for the delay in this barrier, their polling intervals may have grown. In the last
    // barrier all ranks wait equally long, with and without a delay.
    together = together && barrier();
    if (together && rank == 0) base::sleep_through(after_ns + base::control_rest_after_ns);
    together = together && barrier();
    clock.leave();
    return together;
}

}  // namespace training
