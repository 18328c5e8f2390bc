// SPDX-License-Identifier: Apache-2.0
// Counters of this rank's process beside what the training reports: the processor's events through PAPI, the kernel's
// own through perf_event_open, or, where that is not allowed, what getrusage reports.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ddl {

struct Metric {
    std::string name;
    std::string unit;
    std::string description;
    std::string source;  // "ddl-train", "PAPI SDE", "PAPI preset", "perf software event", "getrusage"
};

// "switches to another thread, of all threads (source: perf software event)"
std::string text(const Metric& metric);
nlohmann::ordered_json to_json(const std::vector<Metric>& metrics);  // name, unit and source of each

class ProcessMetrics {
 public:
    // Counts from here on. To be made before the process has other threads: PAPI counts this one and those to come.
    // `choice`: "auto" (some presets of PAPI, as many as the processor counts together, and the kernel's events),
    // "none", or names: the kernel's (with `perf::` before it if nothing but perf_event_open will do) and PAPI's.
    // Throws UsageError for a name that this machine cannot count, with those that it can.
    explicit ProcessMetrics(const std::string& choice);

    const std::vector<Metric>& metrics() const { return metrics_; }

    // Counters that "auto" has elsewhere, and why not here.
    const std::vector<std::string>& left_out() const { return left_out_; }

    // In the order of metrics(), each summed up. Empty from the first failure on, which is reported on stderr: no
    // training ends for the sake of its counters. In the thread that made this.
    std::vector<std::int64_t> read();

 private:
    using Reader = std::function<std::vector<std::int64_t>()>;

    void choose_from_all();
    void choose(const std::vector<std::string>& names);
    void count_with_papi(const std::vector<std::string>& names);
    void count_with_perf(const std::vector<std::string>& names);
    void count_with_getrusage(const std::vector<std::string>& names);
    void add(const std::vector<Metric>& metrics, Reader reader);

    std::vector<Metric> metrics_;
    std::vector<std::string> left_out_;
    std::vector<Reader> readers_;  // each of some metrics, in their order
};

}  // namespace ddl
