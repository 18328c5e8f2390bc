// What a checkpoint says of the training that wrote it.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/plan/plan.hpp"

#include <cstdint>

namespace ddl {

CheckpointMeta checkpoint_meta(const TrainingPlan& plan, int ranks, std::int64_t steps_per_epoch, std::int64_t steps);

// Throws UsageError that says in what the trainings differ, if they would not go on alike.
void check_same_training(const CheckpointMeta& was, const CheckpointMeta& is, const char* option = "--resume");

}  // namespace ddl
