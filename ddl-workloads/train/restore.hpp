// SPDX-License-Identifier: Apache-2.0
// Restores a training from a checkpoint.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <filesystem>

namespace ddl {

// Collective: broadcasts the path of the checkpoint that rank 0 found (empty: none).
std::filesystem::path as_rank0_found(const std::filesystem::path& checkpoint, ExchangeThread& exchanges);

// Restores the model from the checkpoint. Throws UsageError if the training would not continue alike, Error for a
// damaged file.
void restore(const std::filesystem::path& checkpoint, const CheckpointMeta& is, Model& model, bool ranks_are_equal,
             int rank);

}  // namespace ddl
