// SPDX-License-Identifier: Apache-2.0
// Reads and verifies a checkpoint.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include <memory>
#include <span>
#include <vector>

namespace ddl {

// A checkpoint to resume from. Errors name the file and, if one is affected, the tensor: missing or foreign files,
// files of another checkpoint, truncated files, damaged bytes. Holds HDF5's lock for its lifetime.
class CheckpointReader {
 public:
    // Opens every file and reads the group /meta.
    explicit CheckpointReader(const std::filesystem::path& checkpoint);
    ~CheckpointReader();
    CheckpointReader(const CheckpointReader&) = delete;
    CheckpointReader& operator=(const CheckpointReader&) = delete;

    const CheckpointMeta& meta() const { return meta_; }

    // Reads every tensor once and compares its checksum.
    void verify() const;

    // Fills the tensors' memory. A tensor that several files hold is read from this rank's shard.
    void read(std::span<const StateTensor> tensors, int rank) const;

    // For each file, the sorted paths of its tensors.
    std::vector<std::vector<std::string>> paths() const;

 private:
    class File;

    hdf5::Lock lock_;
    CheckpointMeta meta_;
    std::vector<std::unique_ptr<File>> files_;  // the files that hold tensors; shard i is the i-th
};

}  // namespace ddl
