// SPDX-License-Identifier: Apache-2.0
// Converts the events of Kineto's JSON to rows of slices.
#pragma once

#include "trace-tools/convert/kineto_trace.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace convert {

// long double, since microseconds since 1970 with three decimals need more digits than a double has (errors up to 125
// ns).
using KinetoJson =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, long double>;

constexpr long double latest_kineto_ns = 4e18L;  // the year 2096, counted from 1970

class KinetoCollector {
 public:
    explicit KinetoCollector(std::filesystem::path file) : file_{std::move(file)} {}

    // Throws Error with a one-line message.
    void take(const KinetoJson& event);

    // Call after the last event. Times are counted from 1970 if the file states the base of its own times.
    KinetoTrace finish(std::int64_t base_ns);

 private:
    using Row = std::pair<std::string, std::string>;  // pid and tid
    struct Mark {                                     // a begin or end event
        bool begins = false;
        Slice slice;
    };

    void take_name(const KinetoJson& event);
    void take_slice(const KinetoJson& event);
    void take_mark(const KinetoJson& event, bool begins);
    void take_flow_end(const KinetoJson& event);
    long double time_of(const KinetoJson& event, const char* key, const std::string& name) const;
    Slice slice_of(const KinetoJson& event);
    void put(const Row& row, const Slice& slice);
    void pair_marks();
    void merge_unnamed();
    KinetoRow& row_of(const Row& row, bool device);
    std::uint32_t region(const std::string& name, const std::string& category);

    std::filesystem::path file_;
    KinetoTrace trace_;
    std::map<std::pair<std::string, std::string>, std::uint32_t> regions_;
    std::map<std::string, std::size_t> flow_kinds_;
    std::map<std::string, std::string> process_names_;
    std::map<std::string, std::string> labels_;  // by pid: "GPU 0"
    std::map<Row, std::string> row_names_;
    std::map<Row, std::vector<FlowEnd>> flow_ends_;
    std::map<Row, std::vector<Mark>> marks_;
    std::size_t slices_ = 0;
    std::size_t rows_ = 0;
};

// Assigns each device to its process, and gives each kernel without a correlation id that of the call with the same
// External id. Counts kernels without a launch, and kernels that begin before their launch.
void join_launches(KinetoTrace& trace);

}  // namespace convert
