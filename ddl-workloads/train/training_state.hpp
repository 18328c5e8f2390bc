// What of a training goes into its checkpoints, and comes back out of one.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/train/plan.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ddl {

CheckpointMeta checkpoint_meta(const TrainingPlan& plan, int ranks, std::int64_t steps_per_epoch, std::int64_t steps);

// What this rank has. Ranks that are not kept equal have each its own.
std::vector<StateTensor> training_state(Model& model, bool ranks_are_equal);

// Throws UsageError if there is no state, or if one file cannot hold it.
void check_can_be_written(const TrainingPlan& plan, const std::vector<StateTensor>& state);

// Collective: the checkpoint that rank 0 found (empty: none), on all ranks.
std::filesystem::path as_rank0_found(const std::filesystem::path& checkpoint, ExchangeThread& exchanges);

// The model becomes what it was. Throws UsageError if the trainings would not go on alike, Error for a damaged file.
void restore(const std::filesystem::path& checkpoint, const CheckpointMeta& is, Model& model, bool ranks_are_equal,
             int rank);

}  // namespace ddl
