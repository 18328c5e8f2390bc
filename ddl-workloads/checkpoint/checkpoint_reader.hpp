// SPDX-License-Identifier: Apache-2.0
// Reads a checkpoint, and checks it.
#pragma once

#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include <memory>
#include <span>
#include <vector>

namespace ddl {

// A checkpoint to resume from. What is wrong with it is an Error that names the file and, if it is one's, the tensor:
// missing or foreign files, files of another checkpoint or cut off, damaged bytes. Has HDF5 to itself as long as it
// lives.
class CheckpointReader {
 public:
    // Opens every file and reads the meta.
    explicit CheckpointReader(const std::filesystem::path& checkpoint);
    ~CheckpointReader();
    CheckpointReader(const CheckpointReader&) = delete;
    CheckpointReader& operator=(const CheckpointReader&) = delete;

    const CheckpointMeta& meta() const { return meta_; }

    // Reads every tensor once and compares its checksum.
    void verify() const;

    // Fills the tensors' memory. One that several files hold is taken from the shard of this rank.
    void read(std::span<const StateTensor> tensors, int rank) const;

    // Paths of all tensors, by file, sorted.
    std::vector<std::vector<std::string>> paths() const;

 private:
    class File;

    hdf5::Lock lock_;
    CheckpointMeta meta_;
    std::vector<std::unique_ptr<File>> files_;  // that hold tensors: shard i is the i-th
};

}  // namespace ddl
