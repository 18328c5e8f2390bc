// SPDX-License-Identifier: Apache-2.0
// Outputs for each step: rows of steps.csv, the progress line, OpenMetrics, sums for the run record.
#pragma once

#include "base/cli/progress.hpp"
#include "ddl-workloads/hooks/ends.hpp"
#include "ddl-workloads/instruments/step_metrics.hpp"
#include "ddl-workloads/plan/plan.hpp"
#include "ddl-workloads/step/step_sums.hpp"
#include "trace-tools/training/step_rows.hpp"

#include <filesystem>
#include <optional>

namespace ddl {

// Each rank's report to all other ranks, once a step.
struct StepNews {
    std::int64_t complete_steps = 0;  // 0: `last` holds no times yet
    StepTimes last = {};              // times of the last complete step
};

class StepLog : public Hook {
 public:
    // Rank 0 writes for all ranks, into DIR/train, which must exist. `ends` must outlive the object.
    StepLog(const TrainingPlan& plan, const std::filesystem::path& directory, int rank, const Ends& ends,
            NewsBoard& board);

    void post(StepContext& context) override;
    void receive(StepContext& context) override;
    void after_update(StepContext& context) override;
    void end_step(StepContext& context, const StepTimes& times) override;
    void after_last_step(StepContext& context) override;

    const StepSums& sums() const { return sums_; }

 private:
    void show_progress(const StepContext& context);
    void show_metrics(const StepContext& context, bool running);

    const Ends& ends_;
    NewsBoard::Slot<StepNews> slot_;
    StepNews news_;
    StepSums sums_;
    std::optional<training::StepRows> rows_;  // rank 0 only, as the next two
    std::optional<base::Progress> progress_;
    std::optional<StepMetrics> metrics_;  // empty unless requested
};

}  // namespace ddl
