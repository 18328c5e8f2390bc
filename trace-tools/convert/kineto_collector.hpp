// SPDX-License-Identifier: Apache-2.0
// Makes rows of slices of the events of Kineto's JSON.
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

// Microseconds since 1970 with three decimals are more digits than a double has: it would be off by up to 125 ns.
using KinetoJson =
    nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t, std::uint64_t, long double>;

constexpr long double latest_kineto_ns = 4e18L;  // in 2096, if counted from 1970

class KinetoCollector {
 public:
    explicit KinetoCollector(std::filesystem::path file) : file_{std::move(file)} {}

    // Throws Error, one clear line.
    void take(const KinetoJson& event);

    // After the last event. The archive counts from 1970 where the file says when its own time begins.
    KinetoTrace finish(std::int64_t base_ns);

 private:
    using Row = std::pair<std::string, std::string>;  // pid and tid
    struct Mark {                                     // a begin or an end
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

// Gives each device its process, and each kernel without a correlation that of the call with its External id. Counts
// kernels without their launch, and before it.
void join_launches(KinetoTrace& trace);

}  // namespace convert
