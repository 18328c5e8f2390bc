// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/gpu/gpu_work.hpp"

#include "analysis/input/step_work/numbered_rows.hpp"
#include "base/error.hpp"
#include "trace-tools/gpu/analysis/gpu_table.hpp"
#include "trace-tools/gpu/analysis/missing_activities.hpp"
#include "trace-tools/gpu/analysis/windows.hpp"

#include <utility>

namespace analysis {

namespace {

void add_means(GpuWork& work, const base::LongColumn<std::int64_t>& numbers)
{
    PlaceOfStep place_of{numbers};
    base::LongColumn<std::int64_t> devices;
    devices.resize(numbers.size());
    for (const gpu::GpuStep row : work.rows)
        if (const std::size_t place = place_of(row.step); place < numbers.size()) ++devices[place];
    work.ms.resize(static_cast<Eigen::Index>(numbers.size()), static_cast<Eigen::Index>(gpu::measures().size()));
    for (std::size_t m = 0; m < gpu::measures().size(); ++m) {
        const gpu::Measure& measure = gpu::measures()[m];
        work.names.push_back(measure.name);
        for (const gpu::GpuStep row : work.rows) {
            const std::size_t place = place_of(row.step);
            if (place == numbers.size()) continue;
            work.ms(static_cast<Eigen::Index>(place), static_cast<Eigen::Index>(m)) +=
                static_cast<double>(measure.ns(row)) / 1e6 / static_cast<double>(std::as_const(devices)[place]);
        }
    }
}

double covered_percent(const GpuWork& work)
{
    double delay = 0.0;
    double covered = 0.0;
    for (const gpu::GpuStep row : work.rows) {
        delay += static_cast<double>(row.host_delay);
        covered += static_cast<double>(row.host_delay_covered);
    }
    return delay > 0.0 ? 100.0 * covered / delay : 0.0;
}

}  // namespace

GpuWork read_gpu_work(otf2::Reader& reader, const otf2::StepChoice& choice,
                      const base::LongColumn<std::int64_t>& numbers)
{
    gpu::Accelerators accelerators{reader.archive()};
    if (!accelerators.any()) return {};
    if (const std::string missing = gpu::missing_activities(reader.archive()); !missing.empty()) base::fail(missing);
    GpuWork work;
    reader.set({});
    gpu::GpuSteps steps{reader.archive(), accelerators, gpu::steps_on_common_clock(reader, choice),
                        [&](const gpu::GpuStep& step) { work.rows.push_back(step); }};
    reader.read(steps);
    steps.finish();
    if (work.rows.size() == 0) return {};
    add_means(work, numbers);
    work.covered_percent = covered_percent(work);
    work.devices = std::move(accelerators.devices);
    return work;
}

}  // namespace analysis
