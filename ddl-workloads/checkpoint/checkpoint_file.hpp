// The files of a checkpoint, and what is in them. A contract with whoever reads or alters checkpoints; format 1:
//
// A checkpoint is a directory step-<number>, the number of steps done, in nine digits or more. checkpoint.h5 in it
// holds everything (shards 0), or, if every rank wrote its share (shards N), links to what shard-0.h5 .. shard-<N-1>.h5
// hold. All of them are HDF5 with checksums of its own structures (superblock version 2 or later).
//
//     /model/..        parameters and statistics, by name: /model/layers.0.weight
//     /optimizer/..    what the optimizer keeps, by kind and parameter: /optimizer/momentum/layers.0.weight
//     /meta            attributes, in every file the same but for the last two; here are also states of random numbers:
//         format, program, version, git_revision, written_ns (CLOCK_REALTIME)
//         step, epoch, step_in_epoch, steps_per_epoch, seed, batch, accumulate, ranks     (integers; where the sampler
//         goes on) model, data, strategy, optimizer, rates                             (texts, as the command line
//         names them) shards, shard (-1: checkpoint.h5), tensors (how many datasets are in this file)
//
// Tensors are contiguous, not compressed, little-endian. Each has the attribute crc32c: of its bytes as they stand in
// the file. Whoever alters a tensor on purpose writes that attribute anew.
#pragma once

#include "ddl-workloads/data/hdf5.hpp"
#include "ddl-workloads/models/state_tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ddl {

constexpr int checkpoint_format = 1;

struct CheckpointMeta {
    std::int64_t step = 0;  // so many are done
    std::int64_t steps_per_epoch = 1;
    std::uint64_t seed = 1;
    std::int64_t batch = 1;       // of one pass
    std::int64_t accumulate = 1;  // passes of a step
    std::int64_t ranks = 1;
    std::string model;
    std::string data;
    std::string strategy;
    std::string optimizer;
    std::string rates;        // what else its updates depend on, in words; empty in earlier checkpoints
    std::int64_t shards = 0;  // 0: all is in checkpoint.h5
};

std::filesystem::path checkpoint_file(const std::filesystem::path& checkpoint);
std::filesystem::path shard_file(const std::filesystem::path& checkpoint, std::int64_t shard);

// checkpoint.h5 with all tensors, or one shard with its share. Throws std::system_error, for example of a full disk.
// `durable`: on the device when it returns.
void write_whole_checkpoint(const std::filesystem::path& checkpoint, const CheckpointMeta& meta,
                            std::span<const StateTensor> tensors, bool durable);
void write_shard(const std::filesystem::path& checkpoint, const CheckpointMeta& meta, std::int64_t shard,
                 std::span<const StateTensor> tensors, bool durable);

// checkpoint.h5 of a checkpoint with shards: paths[i] are those that shard i holds and whose path is in no other.
void write_index(const std::filesystem::path& checkpoint, const CheckpointMeta& meta,
                 const std::vector<std::vector<std::string>>& paths, bool durable);

// A checkpoint to go on from. What is wrong with it is an Error that names the file and, if it is one's, the tensor:
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
