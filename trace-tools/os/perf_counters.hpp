// SPDX-License-Identifier: Apache-2.0
// Counters of the processor for each thread of a job: cycles, instructions and cache misses of its own code, and moves
// from CPU to CPU.
#pragma once

#include "base/contract/os_table.hpp"
#include "base/descriptor.hpp"
#include "trace-tools/os/counters.hpp"
#include "trace-tools/os/job.hpp"

#include <cstdint>
#include <map>
#include <vector>

namespace os {

class PerfCounters {
 public:
    PerfCounters();

    // The counters that this machine and the user's permissions allow.
    std::vector<Source> sources() const;

    // Returns a row for each counter that grew since the last call. A thread is counted from the first call that sees
    // it.
    std::vector<base::os::Row> read(const Job& job, std::int64_t now_ns);

 private:
    struct Counter {
        std::size_t event = 0;
        base::Descriptor file;
        std::int64_t count = 0;
    };

    void open(pid_t thread);
    void read_thread(pid_t thread, std::vector<Counter>& counters, std::vector<base::os::Row>& rows) const;

    std::vector<int> lacks_;  // by event: 0, or errno
    std::map<pid_t, std::vector<Counter>> threads_;
    std::int64_t before_ns_ = 0;
    std::int64_t now_ns_ = 0;
};

}  // namespace os
