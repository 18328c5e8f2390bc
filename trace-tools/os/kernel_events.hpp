// SPDX-License-Identifier: Apache-2.0
// Interruptions of a job's threads, each with the task or interrupt that caused it, recorded by eBPF programs in the
// kernel.
#pragma once

#include "base/contract/os_table.hpp"
#include "trace-tools/os/job.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace os {

class KernelEvents {
 public:
    // Returns null if the kernel or this user's rights do not allow it; `lacks` then says what is missing.
    // Interruptions shorter than `least_ns` are summed up by thread, CPU and cause.
    static std::unique_ptr<KernelEvents> start(const Job& job, std::int64_t least_ns, std::string& lacks);
    ~KernelEvents();  // the kernel removes the programs when this process ends, however it ends
    KernelEvents(const KernelEvents&) = delete;
    KernelEvents& operator=(const KernelEvents&) = delete;

    // Adds new processes and CPUs. Children are observed from their start without this call.
    void follow(const Job& job);

    // Interruptions since the last call, approximately in the order of their ends.
    std::vector<base::os::Row> read();

    // Sums of short interruptions since the last call.
    std::vector<base::os::Row> read_sums(std::int64_t now_ns);

    // Number of interruptions that were lost because buffers were full.
    std::uint64_t lost() const;

 private:
    KernelEvents();
    struct State;
    std::unique_ptr<State> state_;
    std::int64_t sums_from_ns_ = 0;
};

}  // namespace os
