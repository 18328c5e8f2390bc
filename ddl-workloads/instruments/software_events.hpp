// SPDX-License-Identifier: Apache-2.0
// The kernel's own events of this process, by the names that perf(1) has for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddl {

struct SoftwareEvent {
    std::string name;  // "context-switches"
    std::string unit;
    std::string description;
    bool in_resource_usage = false;  // getrusage reports it, too
};

const std::vector<SoftwareEvent>& software_events();
const SoftwareEvent* find_software_event(const std::string& name);  // null: there is none of this name

// Counts with perf_event_open from the construction on, in user and in kernel mode: all threads that this process has
// then, and those that they start. Throws base::Unavailable, saying why, where the kernel does not allow it.
class SoftwareEventCounts {
 public:
    explicit SoftwareEventCounts(const std::vector<std::string>& names);
    ~SoftwareEventCounts();
    SoftwareEventCounts(const SoftwareEventCounts&) = delete;
    SoftwareEventCounts& operator=(const SoftwareEventCounts&) = delete;

    std::vector<std::int64_t> read() const;  // in the order of the names

 private:
    void close() noexcept;

    std::vector<std::vector<int>> files_;  // by name, one a thread
};

// Values of getrusage for these, of all threads since the process began.
std::vector<std::int64_t> resource_usage(const std::vector<std::string>& names);

}  // namespace ddl
