// SPDX-License-Identifier: Apache-2.0
// The GPU report of trace-waits.
#pragma once

#include "trace-tools/gpu/analysis/accelerators.hpp"
#include "trace-tools/gpu/analysis/gpu_steps.hpp"
#include "trace-tools/gpu/analysis/gpu_table.hpp"
#include "trace-tools/steps/chosen_steps.hpp"
#include "trace-tools/steps/part.hpp"

#include <filesystem>
#include <optional>
#include <ostream>

namespace gpu {

class Report {
 public:
    // Without GPUs in the archive, nothing is done or reported. Only steps that lie completely in the part count. `out`
    // is the directory of the table; empty: no table.
    Report(otf2::Reader& reader, const otf2::StepChoice& choice, const otf2::Part& part,
           const std::filesystem::path& out);

    // A visitor for all events in time order; null without GPUs.
    otf2::Visitor* visitor() { return steps_ ? &*steps_ : nullptr; }

    // Call after the last event; completes the table.
    void finish();
    void print(std::ostream& out) const;

 private:
    void add(const GpuStep& step);

    Accelerators accelerators_;
    std::optional<StepsTable> table_;
    std::optional<GpuSteps> steps_;
    GpuStep sums_;
    std::int64_t count_ = 0;  // number of rows
    bool whole_run_ = false;
};

}  // namespace gpu
