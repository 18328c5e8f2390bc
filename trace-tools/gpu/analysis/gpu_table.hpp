// SPDX-License-Identifier: Apache-2.0
// gpu_steps.csv of trace-waits and interference, and the measures that also become metrics.
#pragma once

#include "base/csv.hpp"
#include "trace-tools/gpu/analysis/gpu_steps.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace gpu {

inline constexpr const char* steps_file = "gpu_steps.csv";

// One row per step and device.
class StepsTable {
 public:
    explicit StepsTable(const std::filesystem::path& file);
    void row(const GpuStep& step, const Device& device);
    void finish() { table_.finish(); }  // renames the file to its final name

 private:
    base::CsvWriter table_;
};

// A measure, with the name of its metric, such as "gpu_idle_launch".
struct Measure {
    std::string name;
    std::function<std::int64_t(const GpuStep&)> ns;
};
const std::vector<Measure>& measures();

}  // namespace gpu
