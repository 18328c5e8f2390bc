// SPDX-License-Identifier: Apache-2.0
// Interruptions of a job's threads, each with the task or interrupt that caused it, recorded by programs in the kernel
// (eBPF).
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
    // Null where the kernel or this user's rights do not allow it; `lacks` then says what is missing. Interruptions
    // shorter than `least_ns` are summed up, by thread, CPU and cause.
    static std::unique_ptr<KernelEvents> start(const Job& job, std::int64_t least_ns, std::string& lacks);
    ~KernelEvents();  // the kernel's programs are gone with this process, however it ends
    KernelEvents(const KernelEvents&) = delete;
    KernelEvents& operator=(const KernelEvents&) = delete;

    // Watches processes and CPUs that are new. Children are watched from their first moment without this.
    void follow(const Job& job);

    // Interruptions since the last call, about in the order of their ends.
    std::vector<base::os::Row> read();

    // Sums of short interruptions since the last call.
    std::vector<base::os::Row> read_sums(std::int64_t now_ns);

    // Interruptions that are missing since there was no room for them.
    std::uint64_t lost() const;

 private:
    KernelEvents();
    struct State;
    std::unique_ptr<State> state_;
    std::int64_t sums_from_ns_ = 0;
};

}  // namespace os
