// SPDX-License-Identifier: Apache-2.0
// Kernel counters that every user may read: run-queue wait, preemptions and faults of threads; time that interrupts and
// the hypervisor took from CPUs; throttling and pressure of the job's control group.
#pragma once

#include "base/contract/os_table.hpp"
#include "trace-tools/os/job.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace os {

// A source of observations.
struct Source {
    std::string name;
    std::string gives;
    std::string lacks;  // what this machine lacks for it, and how to provide that; empty if nothing
};

class Counters {
 public:
    // `root` replaces / in tests.
    explicit Counters(std::filesystem::path root = "/") : root_{std::move(root)} {}

    // Returns a row for each counter that grew since the last call. There are no rows for the first call, nor for a
    // thread when it is seen for the first time.
    std::vector<base::os::Row> read(const Job& job, std::int64_t now_ns);

    // The sources for that job, and what each lacks on this machine.
    std::vector<Source> sources(const Job& job) const;

 private:
    // Cause, who caused it, thread, CPU; -1: not applicable.
    using Key = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;
    struct Value {
        std::int64_t count = 0;
        std::int64_t ns = 0;
    };

    void read_threads(const Job& job);
    void read_cpus(const Job& job);
    void read_parts_of_threads(const Job& job);
    void read_interrupts(const Job& job, const std::string& file, const std::string& cause);
    void read_group(const Job& job);
    void read_pressure(const Job& job);
    void read_resctrl();
    void grown(Key key, Value value);
    void now(Key key, Value value);
    std::int64_t growth_ns(const Key& key) const;  // since the last call; 0 if the key is new

    std::filesystem::path root_;
    std::map<Key, Value> before_;
    std::map<Key, Value> seen_;
    std::int64_t before_ns_ = 0;
    std::int64_t now_ns_ = 0;
    std::vector<base::os::Row> rows_;
};

}  // namespace os
