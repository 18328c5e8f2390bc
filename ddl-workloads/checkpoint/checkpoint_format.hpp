// SPDX-License-Identifier: Apache-2.0
// The files of a checkpoint, and what is in them. A contract with programs that read or alter checkpoints; format 1:
//
// A checkpoint is a directory step-<number>, the number of steps done, in nine digits or more. checkpoint.h5 in it
// holds everything (shards 0), or, if every rank wrote its share (shards N), links to what shard-0.h5 .. shard-<N-1>.h5
// hold. All of them are HDF5 with checksums of its own structures (superblock version 2 or later).
//
//     /model/..        parameters and statistics, by name: /model/layers.0.weight
//     /optimizer/..    what the optimizer keeps, by kind and parameter: /optimizer/momentum/layers.0.weight
//     /meta            attributes, in every file the same but for the last two; here are also states of random numbers:
//         format, program, version, git_revision, written_ns (CLOCK_REALTIME)
//         step, epoch, step_in_epoch, steps_per_epoch, seed, batch, accumulate, ranks: numbers, where sampling resumes
//         model, data, strategy, optimizer, rates: texts, as the command line names them
//         shards, shard (-1: checkpoint.h5), tensors (how many datasets are in this file)
//
// Tensors are contiguous, not compressed, little-endian. Each has the attribute crc32c: of its bytes as they stand in
// the file. A program that alters a tensor on purpose updates that attribute.
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
    std::int64_t step = 0;  // steps done
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

constexpr const char* checksum_attribute = base::checkpoint::checksum;

// The type of numbers in the file.
hid_t file_type(ElementType type);

void write_attribute(hid_t object, const char* name, hid_t type, const void* value);

// Throw Error if it is not there, or no single value of that class.
hdf5::Attribute open_attribute(hid_t object, const char* name, H5T_class_t expected);
std::int64_t read_number(hid_t object, const char* name);
std::string read_text(hid_t object, const char* name);

// The group /meta.
void write_meta(hid_t file, const CheckpointMeta& meta, std::int64_t shard, std::size_t tensors);
CheckpointMeta read_meta(hid_t group);

}  // namespace ddl
