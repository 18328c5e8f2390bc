// SPDX-License-Identifier: Apache-2.0
// Metrics of a running program in a file of OpenMetrics 1.0 text, for the textfile collector of Prometheus' node
// exporter and other readers of that format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace base {

// Values with one name, such as crosstalk_training_step_seconds: one value for each combination of labels.
struct MetricFamily {
    std::string name;  // ends in the unit, if any; a counter's values get "_total"
    std::string unit;
    std::string help;
    bool counter = false;  // true: the value only grows; false: a gauge
    struct Value {
        std::vector<std::pair<std::string, std::string>> labels;
        double value = 0.0;
    };
    std::vector<Value> values;
};

std::string openmetrics(const std::vector<MetricFamily>& families);

// Writes the file as a whole every few seconds, so that no reader sees half of it. A failure is reported once and stops
// the writing, but not the program, since the measurement is more important.
class OpenMetricsFile {
 public:
    explicit OpenMetricsFile(std::filesystem::path path) : path_{std::move(path)} {}

    bool due(std::int64_t now_ns) const { return !path_.empty() && now_ns >= next_ns_; }
    void write(const std::vector<MetricFamily>& families, std::int64_t now_ns);

 private:
    std::filesystem::path path_;  // empty: no file is written
    std::int64_t next_ns_ = 0;
};

// The file's name for a process: "crosstalk.prom" for the first process on a host, "crosstalk.1.prom" for the next.
std::filesystem::path openmetrics_file_of_process(const std::filesystem::path& file, int number_on_host);

}  // namespace base
