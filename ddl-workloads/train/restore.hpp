// SPDX-License-Identifier: Apache-2.0
// How a training becomes what a checkpoint holds.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <filesystem>

namespace ddl {

// Collective: the checkpoint that rank 0 found (empty: none), on all ranks.
std::filesystem::path as_rank0_found(const std::filesystem::path& checkpoint, ExchangeThread& exchanges);

// The model becomes what it was. Throws UsageError if the trainings would not continue alike, Error for a damaged file.
void restore(const std::filesystem::path& checkpoint, const CheckpointMeta& is, Model& model, bool ranks_are_equal,
             int rank);

}  // namespace ddl
