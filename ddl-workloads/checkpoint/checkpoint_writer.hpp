// SPDX-License-Identifier: Apache-2.0
// Writes the files of a checkpoint.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include <span>
#include <vector>

namespace ddl {

struct WriteHow {
    const CheckpointFormat* format = checkpoint_formats().cards().front();
    bool durable = true;  // the data is on the device when the function returns
    int gzip = 0;         // level from 1 to 9, for a format that offers `compressing`; 0: not compressed
};

// Writes the one file with all tensors, or one shard with its share. Throws std::system_error (a full disk, for
// example).
Written write_whole_checkpoint(const std::filesystem::path& checkpoint, const CheckpointMeta& meta,
                               std::span<const StateTensor> tensors, const WriteHow& how);
Written write_shard(const std::filesystem::path& checkpoint, const CheckpointMeta& meta, std::int64_t shard,
                    std::span<const StateTensor> tensors, const WriteHow& how);

// Completes a checkpoint with shards: paths[i] lists the tensors to link to in shard i, each path in one shard only.
Written write_index(const std::filesystem::path& checkpoint, const CheckpointMeta& meta,
                    const std::vector<std::vector<std::string>>& paths, const WriteHow& how);

}  // namespace ddl
