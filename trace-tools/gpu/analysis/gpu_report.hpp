// SPDX-License-Identifier: Apache-2.0
// Report of trace-waits on GPUs.
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
    // An archive without GPUs costs nothing and reports nothing. Only steps that lie wholly in the part count.
    // `out`: where the table goes; empty: there is none.
    Report(otf2::Reader& reader, const otf2::StepChoice& choice, const otf2::Part& part,
           const std::filesystem::path& out);

    // For all events in the order of time; null without GPUs.
    otf2::Visitor* visitor() { return steps_ ? &*steps_ : nullptr; }

    // After the last event; then the table is there.
    void finish();
    void print(std::ostream& out) const;

 private:
    void add(const GpuStep& step);

    Accelerators accelerators_;
    std::optional<StepsTable> table_;
    std::optional<GpuSteps> steps_;
    GpuStep sums_;
    std::int64_t count_ = 0;  // of rows
    bool whole_run_ = false;
};

}  // namespace gpu
