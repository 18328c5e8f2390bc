// SPDX-License-Identifier: Apache-2.0
// Metrics of a running program, as OpenMetrics text in a file: for the textfile collector of Prometheus' node
// exporter, and for anything else that reads that format (OpenMetrics 1.0).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace base {

// Values of one name, such as crosstalk_training_step_seconds; of each combination of labels there is one.
struct MetricFamily {
    std::string name;  // ends in the unit, if there is one; a counter's values get "_total"
    std::string unit;
    std::string help;
    bool counter = false;  // only grows; else a gauge
    struct Value {
        std::vector<std::pair<std::string, std::string>> labels;
        double value = 0.0;
    };
    std::vector<Value> values;
};

std::string openmetrics(const std::vector<MetricFamily>& families);

// Written whole every few seconds, so that no reader sees half of it. A failure is reported once, and ends the writing:
// what is measured is more important.
class OpenMetricsFile {
 public:
    explicit OpenMetricsFile(std::filesystem::path path) : path_{std::move(path)} {}

    bool due(std::int64_t now_ns) const { return !path_.empty() && now_ns >= next_ns_; }
    void write(const std::vector<MetricFamily>& families, std::int64_t now_ns);

 private:
    std::filesystem::path path_;  // empty: not wanted
    std::int64_t next_ns_ = 0;
};

// "crosstalk.prom" of the first process on a host, "crosstalk.1.prom" of the next one.
std::filesystem::path openmetrics_file_of_process(const std::filesystem::path& file, int number_on_host);

}  // namespace base
