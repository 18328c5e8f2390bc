// The built-in positive control: a delay of known length, requested through the control file, the same for all ranks;
// and its sham, the same barriers and rests without a delay.
#pragma once

#include "base/contract/control_file.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

namespace ddl {

// Steps outside of the slots of control.delay and control.sham are untouched. Rank 0 reads the request at the begin of
// a step; it reaches the other ranks with that step's news, and all ranks make it in the next step.
class ControlDelay {
 public:
    // page: this node's, null on all but its first rank. Rank 0's decides for the job.
    ControlDelay(base::Nanoseconds delay, base::ControlPage* page, ExchangeThread& exchanges);

    // At the begin of every step: what rank 0 wants all ranks to make in the next one, none on other ranks. None, too,
    // if that step would not end before its slot does, judged by the last step (without times: not known yet).
    base::ControlRequest request_for_next_step(const StepTimes& last);

    // In a step for which rank 0 requested it: rest, delay of rank 0 (phase control_delay) or none, rest, between
    // barriers; all but the delay is phase control_settle.
    void make(base::ControlRequest agreed, PhaseClock& clock);

 private:
    std::int64_t delay_ns_;
    base::ControlPage* page_;
    ExchangeThread& exchanges_;
    base::ControlRequest requested_ = base::ControlRequest::none;  // rank 0: for the step that begins now
};

}  // namespace ddl
