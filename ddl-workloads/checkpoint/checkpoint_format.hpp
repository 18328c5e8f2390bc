// SPDX-License-Identifier: Apache-2.0
// The files of a checkpoint, and their formats: plug-ins that write and read one file. A contract with programs that
// read or alter checkpoints; format 1:
//
// A checkpoint is a directory step-<number>, where the number of steps done has at least nine digits. Its file
// checkpoint.<extension> holds everything (shards 0), or, if every rank wrote a file (shards N), has no tensors of
// its own beside shard-0.<extension> .. shard-<N-1>.<extension>. Tensors are named:
//
//     model/..        parameters and statistics, by name: model/layers.0.weight
//     optimizer/..    the optimizer's state, by kind and parameter: optimizer/momentum/layers.0.weight
//     meta/..         the states of random number generators
//
// Each file also has a head:
//
//     format, program, version, git_revision, written_ns (CLOCK_REALTIME)
//     step, epoch, step_in_epoch, steps_per_epoch, seed, batch, accumulate, ranks: numbers, where sampling resumes
//     model, data, strategy, optimizer, rates, content, by, compress: texts, as the command line names them
//     shards, shard (-1: checkpoint.<extension>), tensors (how many are in this file)
//
// and a CRC-32C (Castagnoli) of each tensor's bytes, which are little-endian and in row-major order.
#pragma once

#include "base/cli/capabilities.hpp"
#include "base/cli/cards.hpp"
#include "base/contract/stored_state.hpp"
#include "base/error.hpp"
#include "ddl-workloads/models/state_tensor.hpp"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ddl {

constexpr int checkpoint_format = 1;

// Values of content: everything that the next steps depend on, or the tensors of model/ only.
inline constexpr const char* whole_training = "training";
inline constexpr const char* weights_only = "weights";

inline constexpr base::Capability compressing{"a checkpoint format that compresses"};

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
    std::string rates;  // other settings that updates depend on, as a text; empty in earlier checkpoints
    std::string content = whole_training;
    std::string by = "rank0";
    std::string compress{};   // as in checkpoints.csv; empty in earlier checkpoints
    std::int64_t shards = 0;  // 0: everything is in one file
};

// The head of a file, in the order in which it is written.
constexpr std::int64_t no_shard = -1;
using HeadValues = std::vector<std::pair<const char*, std::variant<std::int64_t, std::string>>>;
HeadValues head_of(const CheckpointMeta& meta, std::int64_t shard, std::size_t tensors);

// Where a format has the values of a head. number() and text() throw Error if a value is missing or of another kind.
class Head {
 public:
    virtual ~Head() = default;
    virtual bool has(const char* name) const = 0;
    virtual std::int64_t number(const char* name) const = 0;
    virtual std::string text(const char* name) const = 0;
};

// Throws Error if the file is not this shard of a checkpoint that this version reads.
CheckpointMeta read_head(const Head& head, std::int64_t shard, std::size_t tensors);

// Eight hexadecimal digits.
std::string checksum_text(std::uint32_t checksum);

// Throws Error if the checksums differ.
void check_checksum(std::uint32_t found, std::uint32_t written);

// A file to be written; it must not outlive what it refers to.
struct NewFile {
    const std::filesystem::path& path;
    const CheckpointMeta& meta;
    std::int64_t shard = no_shard;
    bool durable = true;  // the data is on the device when the function returns
    int gzip = 0;         // level from 1 to 9; 0: not compressed
};

struct Written {
    std::int64_t write_ns = 0;  // without sync_ns
    std::int64_t sync_ns = 0;
    std::int64_t bytes = 0;  // length of the file
};

// A file that is open for reading. Errors begin with its name, and with the tensor's if one is affected.
class CheckpointFile {
 public:
    virtual ~CheckpointFile() = default;

    const std::filesystem::path& path() const { return path_; }
    const CheckpointMeta& meta() const { return meta_; }
    const std::vector<std::string>& paths() const { return paths_; }  // of the tensors, sorted
    bool holds(const std::string& path) const;

    // Both compare the checksum; read() also compares type and shape with the model's.
    virtual std::vector<std::byte> bytes(const std::string& path) const = 0;
    virtual void read(const StateTensor& tensor) const = 0;

 protected:
    explicit CheckpointFile(std::filesystem::path path) : path_{std::move(path)} {}

    // Runs `work`. An Error gets the names of the file and the tensor in front.
    template <class Work>
    auto naming(const std::string& tensor, const Work& work) const
    {
        try {
            return work();
        } catch (const base::Error& error) {
            base::fail(path_.string(), tensor.empty() ? "" : ": /", tensor, ": ", error.what());
        }
    }

    std::filesystem::path path_;
    CheckpointMeta meta_;
    std::vector<std::string> paths_;
};

struct CheckpointFormat {
    std::string name;
    std::string summary;
    std::string extension;                                               // file name extension, dot included
    std::size_t most_tensors = std::numeric_limits<std::size_t>::max();  // in a file
    base::Capabilities offers = {};
    std::vector<base::OptionCard> options = {};
    // Both throw std::system_error (a full disk, for example). The index of shards has no tensors of its own: paths[i]
    // lists the tensors to link to in shard i, each path in one shard only.
    Written (*write)(const NewFile& file, std::span<const StateTensor> tensors);
    Written (*write_index)(const NewFile& file, const std::vector<std::vector<std::string>>& paths);
    // Throws Error for a file that is foreign, damaged or cut off.
    std::unique_ptr<CheckpointFile> (*open)(const std::filesystem::path& path, std::int64_t shard);
};

// All formats, the default first.
const base::Registry<CheckpointFormat>& checkpoint_formats();

// The format of an existing checkpoint; the default if there is none.
const CheckpointFormat& format_of(const std::filesystem::path& checkpoint);

std::filesystem::path checkpoint_file(const std::filesystem::path& checkpoint, const CheckpointFormat& format);
std::filesystem::path shard_file(const std::filesystem::path& checkpoint, std::int64_t shard,
                                 const CheckpointFormat& format);

bool is_checkpoint(const std::filesystem::path& directory);

}  // namespace ddl
