// SPDX-License-Identifier: Apache-2.0
// The files of a checkpoint and their contents. A contract with programs that read or alter checkpoints; format 1:
//
// A checkpoint is a directory step-<number>, where the number of steps done has at least nine digits. Its checkpoint.h5
// holds everything (shards 0), or, if every rank wrote its share (shards N), links to the contents of shard-0.h5 ..
// shard-<N-1>.h5. All are HDF5 files whose structures have checksums (superblock version 2 or later).
//
//     /model/..        parameters and statistics, by name: /model/layers.0.weight
//     /optimizer/..    the optimizer's state, by kind and parameter: /optimizer/momentum/layers.0.weight
//     /meta            attributes (the last two differ between files), and the states of random number generators:
//         format, program, version, git_revision, written_ns (CLOCK_REALTIME)
//         step, epoch, step_in_epoch, steps_per_epoch, seed, batch, accumulate, ranks: numbers, where sampling resumes
//         model, data, strategy, optimizer, rates: texts, as the command line names them
//         shards, shard (-1: checkpoint.h5), tensors (how many datasets are in this file)
//
// Tensors are contiguous, uncompressed and little-endian. Each has the attribute crc32c, computed from its bytes in the
// file. A program that alters a tensor on purpose updates that attribute.
#pragma once

#include "base/contract/stored_state.hpp"
#include "ddl-workloads/data/hdf5.hpp"
#include "ddl-workloads/models/state_tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <string>

namespace ddl {

constexpr int checkpoint_format = 1;

struct CheckpointMeta {
    std::int64_t step = 0;  // number of steps done
    std::int64_t steps_per_epoch = 1;
    std::uint64_t seed = 1;
    std::int64_t batch = 1;       // samples per rank and pass
    std::int64_t accumulate = 1;  // passes per step
    std::int64_t ranks = 1;
    std::string model;
    std::string data;
    std::string strategy;
    std::string optimizer;
    std::string rates;        // other settings that updates depend on, as a text; empty in earlier checkpoints
    std::int64_t shards = 0;  // 0: everything is in checkpoint.h5
};

std::filesystem::path checkpoint_file(const std::filesystem::path& checkpoint);
std::filesystem::path shard_file(const std::filesystem::path& checkpoint, std::int64_t shard);

constexpr const char* checksum_attribute = base::checkpoint::checksum;

// The HDF5 type of these numbers in the file.
hid_t file_type(ElementType type);

void write_attribute(hid_t object, const char* name, hid_t type, const void* value);

// These throw Error if the attribute does not exist, or is not a single value of that class.
hdf5::Attribute open_attribute(hid_t object, const char* name, H5T_class_t expected);
std::int64_t read_number(hid_t object, const char* name);
std::string read_text(hid_t object, const char* name);

// Writes and reads the group /meta.
void write_meta(hid_t file, const CheckpointMeta& meta, std::int64_t shard, std::size_t tensors);
CheckpointMeta read_meta(hid_t group);

}  // namespace ddl
