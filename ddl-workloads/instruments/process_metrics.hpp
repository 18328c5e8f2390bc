// SPDX-License-Identifier: Apache-2.0
// Counters of this rank's process in addition to the training's own: hardware events through PAPI, kernel software
// events through perf_event_open, or getrusage's counters where that is not allowed.
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

// Description of a metric, such as "switches to another thread, of all threads (source: perf software event)".
std::string text(const Metric& metric);
nlohmann::ordered_json to_json(const std::vector<Metric>& metrics);  // name, unit and source of each metric

class ProcessMetrics {
 public:
    // Starts counting. Must be made before the process has other threads: PAPI counts this thread and those started
    // later. `choice`: "auto" (some PAPI presets, as many as the processor counts together, and the kernel's events),
    // "none", or a list of names: kernel events (with the prefix `perf::` to insist on perf_event_open) and PAPI
    // events. Throws UsageError for a name that cannot be counted on this machine, and lists those that can.
    explicit ProcessMetrics(const std::string& choice);

    const std::vector<Metric>& metrics() const { return metrics_; }

    // Counters that "auto" leaves out on this machine, with the reason.
    const std::vector<std::string>& left_out() const { return left_out_; }

    // Totals since the start, in the order of metrics(). Call on the thread that made this object. The first failure is
    // reported on stderr, and from then on the result is empty: no training fails because of its counters.
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
    std::vector<Reader> readers_;  // each reads some of the metrics, in their order
};

}  // namespace ddl
