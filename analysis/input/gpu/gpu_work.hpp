// SPDX-License-Identifier: Apache-2.0
// GPU activities in the steps of a training, read from its archive.
#pragma once

#include "analysis/input/step_work/long_table.hpp"
#include "base/columns/long_column.hpp"
#include "trace-tools/gpu/analysis/gpu_steps.hpp"
#include "trace-tools/steps/chosen_steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace analysis {

struct GpuWork {
    std::vector<gpu::Device> devices;
    base::LongColumn<gpu::GpuStep> rows;  // one for each device and step
    LongTable ms;                         // steps of the job x names: mean over devices
    std::vector<std::string> names;       // names of gpu::measures()
    // Share of the host's delays (control_delay) in which the GPU of that rank computed. This part of a delay may not
    // lengthen the step.
    double covered_percent = 0.0;

    bool known() const { return !devices.empty(); }
};

// Reads the GPU activities in the steps with these numbers. Empty for an archive without GPUs; of another one the
// events are read twice more. Throws Error also where activities are missing.
GpuWork read_gpu_work(otf2::Reader& reader, const otf2::StepChoice& choice,
                      const base::LongColumn<std::int64_t>& numbers);

}  // namespace analysis
