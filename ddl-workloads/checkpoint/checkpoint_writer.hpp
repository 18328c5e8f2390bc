// SPDX-License-Identifier: Apache-2.0
// Writes the files of a checkpoint.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include <span>
#include <vector>

namespace ddl {

// checkpoint.h5 with all tensors, or one shard with its share. Throws std::system_error, for example of a full disk.
// `durable`: on the device when it returns.
void write_whole_checkpoint(const std::filesystem::path& checkpoint, const CheckpointMeta& meta,
                            std::span<const StateTensor> tensors, bool durable);
void write_shard(const std::filesystem::path& checkpoint, const CheckpointMeta& meta, std::int64_t shard,
                 std::span<const StateTensor> tensors, bool durable);

// checkpoint.h5 of a checkpoint with shards: paths[i] are those that shard i holds and whose path is in no other.
void write_index(const std::filesystem::path& checkpoint, const CheckpointMeta& meta,
                 const std::vector<std::vector<std::string>>& paths, bool durable);

}  // namespace ddl
