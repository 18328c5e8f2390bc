// The built-in positive control: a delay of known length, asked for through the control file, the same for all ranks;
// and its sham, the same barriers and the same rest without a delay.
#pragma once

#include "base/contract/control_file.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

namespace ddl {

// Steps outside of the slots of control.delay and control.sham are untouched: what rank 0 finds asked at the begin of
// a step reaches the other ranks with the news of that step, and all do it in the next.
class ControlDelay {
 public:
    // page: this node's, null on all but its first rank. Rank 0's decides for the job.
    ControlDelay(base::Nanoseconds delay, base::ControlPage* page, ExchangeThread& exchanges);

    // At the begin of every step: what rank 0 wants all ranks to do in the next one, none on other ranks. None, too, if
    // that step would not end before its slot does, judged by the last step (without times: not known yet).
    base::ControlRequest request_for_next_step(const StepTimes& last);

    // In a step that rank 0 requested it for: barrier, a short rest, on rank 0 the delay if it is one, barrier. The
    // delay is rank 0's phase control_delay, everything else control_settle.
    void obey(base::ControlRequest agreed, PhaseClock& clock);

 private:
    std::int64_t delay_ns_;
    base::ControlPage* page_;
    ExchangeThread& exchanges_;
    base::ControlRequest requested_ = base::ControlRequest::none;  // rank 0: for the step that begins now
};

}  // namespace ddl
