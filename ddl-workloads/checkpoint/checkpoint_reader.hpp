// SPDX-License-Identifier: Apache-2.0
// Reads and verifies a checkpoint.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include <map>
#include <memory>
#include <span>
#include <vector>

namespace ddl {

// A checkpoint to resume from, in whatever format it was written. Errors name the file and, if one is affected, the
// tensor: missing or foreign files, files of another checkpoint, truncated files, damaged bytes. One of HDF5 holds
// HDF5's lock for its lifetime.
class CheckpointReader {
 public:
    // Opens every file and reads its head.
    explicit CheckpointReader(const std::filesystem::path& checkpoint);

    const CheckpointMeta& meta() const { return meta_; }

    // Reads every tensor once and compares its checksum.
    void verify() const;

    // Fills the tensors' memory. A tensor that several files hold is read from this rank's shard.
    void read(std::span<const StateTensor> tensors, int rank) const;

    // The bytes of every tensor by its path. If several files hold a tensor, the last file counts.
    std::map<std::string, std::vector<std::byte>> tensors() const;

 private:
    CheckpointMeta meta_;
    std::vector<std::unique_ptr<CheckpointFile>> files_;  // the files that hold tensors; shard i is the i-th
};

}  // namespace ddl
