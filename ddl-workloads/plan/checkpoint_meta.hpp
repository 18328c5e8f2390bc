// SPDX-License-Identifier: Apache-2.0
// Description of the training that wrote a checkpoint.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/plan/plan.hpp"

#include <cstdint>

namespace ddl {

CheckpointMeta checkpoint_meta(const TrainingPlan& plan, int ranks, std::int64_t steps_per_epoch, std::int64_t steps);

// Throws UsageError naming the first difference, if training `is` would not continue like training `was`.
void check_same_training(const CheckpointMeta& was, const CheckpointMeta& is, const char* option);

// The same for --resume. If all ranks trained with the same samples, another strategy may divide those of a step.
void check_resumes(const CheckpointMeta& was, CheckpointMeta is);

}  // namespace ddl
