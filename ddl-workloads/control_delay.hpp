// The built-in positive control: a delay of known length, asked for through the control file, the same for all ranks.
#pragma once

#include "base/control_file.hpp"
#include "ddl-workloads/phases.hpp"
#include "ddl-workloads/transports/transport.hpp"

namespace ddl {

class ControlDelay {
 public:
    // page: this node's, null on all but its first rank. Rank 0's decides for the job.
    ControlDelay(base::Nanoseconds delay, base::ControlPage* page, Transport& transport);

    // At the begin of every step: barrier, a short rest to settle, wait, barrier. Rank 0 waits, and only while its page
    // asks; its phase control_delay is the true delay. That of the others is the time between the barriers.
    void wait(PhaseClock& clock);

 private:
    void delay_if_asked();

    std::int64_t delay_ns_;
    base::ControlPage* page_;
    Transport& transport_;
};

}  // namespace ddl
