// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/gpu/analysis/gpu_table.hpp"

#include "base/error.hpp"

namespace gpu {

namespace {

std::vector<std::string> columns()
{
    std::vector<std::string> all{"rank", "step", "device", "wall_ns", "busy_ns", "idle_ns"};
    for (const char* cause : idle_causes) all.push_back(base::join("idle_", cause, "_ns"));
    for (const char* name : {"exchange_ns", "exchange_overlapped_ns", "copy_ns", "copy_overlapped_ns",
                             "copy_in_exchange_ns", "kernels", "launched", "launch_delay_p50_ns", "launch_delay_p95_ns",
                             "launch_delay_most_ns", "host_delay_ns", "host_delay_covered_ns"})
        all.emplace_back(name);
    return all;
}

}  // namespace

StepsTable::StepsTable(const std::filesystem::path& file) : table_{file, columns(), base::CsvWriter::Appear::whole} {}

void StepsTable::row(const GpuStep& step, const Device& device)
{
    std::vector<std::string> cells{std::to_string(step.rank), std::to_string(step.step), device.name};
    const auto add = [&](std::int64_t number) { cells.push_back(std::to_string(number)); };
    for (const std::int64_t ns : {step.wall, step.busy, step.wall - step.busy}) add(ns);
    for (const std::int64_t ns : step.idle) add(ns);
    for (const std::int64_t number :
         {step.exchange, step.exchange_overlapped, step.copy, step.copy_overlapped, step.copy_in_exchange, step.kernels,
          step.launched, step.launch_delay_p50, step.launch_delay_p95, step.launch_delay_most, step.host_delay,
          step.host_delay_covered})
        add(number);
    table_.write(cells);
}

const std::vector<Measure>& measures()
{
    static const std::vector<Measure> all = [] {
        std::vector<Measure> made{{"gpu_busy", [](const GpuStep& step) { return step.busy; }},
                                  {"gpu_idle", [](const GpuStep& step) { return step.wall - step.busy; }}};
        for (std::size_t cause = 0; cause < idle_causes.size(); ++cause)
            made.push_back({base::join("gpu_idle_", idle_causes[cause]),
                            [cause](const GpuStep& step) { return step.idle[cause]; }});
        made.push_back({"gpu_exchange", [](const GpuStep& step) { return step.exchange; }});
        made.push_back({"gpu_exchange_overlapped", [](const GpuStep& step) { return step.exchange_overlapped; }});
        made.push_back({"gpu_copy", [](const GpuStep& step) { return step.copy; }});
        made.push_back({"gpu_copy_overlapped", [](const GpuStep& step) { return step.copy_overlapped; }});
        made.push_back({"launch_delay_p50", [](const GpuStep& step) { return step.launch_delay_p50; }});
        made.push_back({"launch_delay_p95", [](const GpuStep& step) { return step.launch_delay_p95; }});
        return made;
    }();
    return all;
}

}  // namespace gpu
