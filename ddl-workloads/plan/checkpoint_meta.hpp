// SPDX-License-Identifier: Apache-2.0
// The training that a checkpoint was written by.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/plan/plan.hpp"

#include <cstdint>

namespace ddl {

CheckpointMeta checkpoint_meta(const TrainingPlan& plan, int ranks, std::int64_t steps_per_epoch, std::int64_t steps);

// Throws UsageError with the first difference, if the trainings would not continue alike.
void check_same_training(const CheckpointMeta& was, const CheckpointMeta& is, const char* option = "--resume");

}  // namespace ddl
