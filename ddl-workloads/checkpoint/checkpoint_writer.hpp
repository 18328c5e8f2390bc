// SPDX-License-Identifier: Apache-2.0
// Writes the files of a checkpoint.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include <span>
#include <vector>

namespace ddl {

struct Written {
    std::int64_t write_ns = 0;  // without sync_ns
    std::int64_t sync_ns = 0;
    std::int64_t bytes = 0;  // length of the file
};

// Writes checkpoint.h5 with all tensors, or one shard with its share. Throws std::system_error (a full disk, for
// example). `durable`: the data is on the device when the function returns.
Written write_whole_checkpoint(const std::filesystem::path& checkpoint, const CheckpointMeta& meta,
                               std::span<const StateTensor> tensors, bool durable);
Written write_shard(const std::filesystem::path& checkpoint, const CheckpointMeta& meta, std::int64_t shard,
                    std::span<const StateTensor> tensors, bool durable);

// Writes checkpoint.h5 of a checkpoint with shards: paths[i] lists the tensors to link to in shard i, each path in one
// shard only.
Written write_index(const std::filesystem::path& checkpoint, const CheckpointMeta& meta,
                    const std::vector<std::vector<std::string>>& paths, bool durable);

}  // namespace ddl
