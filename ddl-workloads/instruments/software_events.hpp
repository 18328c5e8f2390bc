// SPDX-License-Identifier: Apache-2.0
// The kernel's software events of this process, by the names that perf(1) uses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddl {

struct SoftwareEvent {
    std::string name;  // name, such as "context-switches"
    std::string unit;
    std::string description;
    bool in_resource_usage = false;  // also counted by getrusage
};

const std::vector<SoftwareEvent>& software_events();
const SoftwareEvent* find_software_event(const std::string& name);  // null: there is no such event

// Counts events with perf_event_open, in user and kernel mode, from its construction on: for all threads that the
// process has then and for those that they start. Throws base::Unavailable with the reason if the kernel does not allow
// it.
class SoftwareEventCounts {
 public:
    explicit SoftwareEventCounts(const std::vector<std::string>& names);
    ~SoftwareEventCounts();
    SoftwareEventCounts(const SoftwareEventCounts&) = delete;
    SoftwareEventCounts& operator=(const SoftwareEventCounts&) = delete;

    std::vector<std::int64_t> read() const;  // totals, in the order of the names

 private:
    void close() noexcept;

    std::vector<std::vector<int>> files_;  // by event; one file descriptor for each thread
};

// getrusage's values of these events, over all threads since the process began.
std::vector<std::int64_t> resource_usage(const std::vector<std::string>& names);

}  // namespace ddl
