// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_writer.hpp"

namespace ddl {

namespace fs = std::filesystem;

Written write_whole_checkpoint(const fs::path& checkpoint, const CheckpointMeta& meta,
                               std::span<const StateTensor> tensors, const WriteHow& how)
{
    const fs::path path = checkpoint_file(checkpoint, *how.format);
    return how.format->write({.path = path, .meta = meta, .durable = how.durable, .gzip = how.gzip}, tensors);
}

Written write_shard(const fs::path& checkpoint, const CheckpointMeta& meta, std::int64_t shard,
                    std::span<const StateTensor> tensors, const WriteHow& how)
{
    const fs::path path = shard_file(checkpoint, shard, *how.format);
    return how.format->write({.path = path, .meta = meta, .shard = shard, .durable = how.durable, .gzip = how.gzip},
                             tensors);
}

Written write_index(const fs::path& checkpoint, const CheckpointMeta& meta,
                    const std::vector<std::vector<std::string>>& paths, const WriteHow& how)
{
    const fs::path path = checkpoint_file(checkpoint, *how.format);
    return how.format->write_index({.path = path, .meta = meta, .durable = how.durable}, paths);
}

}  // namespace ddl
