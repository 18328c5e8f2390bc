// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace ddl {

namespace fs = std::filesystem;

CheckpointReader::CheckpointReader(const fs::path& checkpoint)
{
    const CheckpointFormat& format = format_of(checkpoint);
    std::unique_ptr<CheckpointFile> index = format.open(checkpoint_file(checkpoint, format), no_shard);
    meta_ = index->meta();
    constexpr std::int64_t most_ranks = 1 << 20;
    if (meta_.step < 0 || meta_.steps_per_epoch < 1 || meta_.shards < 0 || meta_.shards > most_ranks)
        base::fail(index->path().string(), ": its values are invalid");
    if (meta_.shards == 0) files_.push_back(std::move(index));
    for (std::int64_t shard = 0; shard < meta_.shards; ++shard) {
        files_.push_back(format.open(shard_file(checkpoint, shard, format), shard));
        const CheckpointMeta& its = files_.back()->meta();
        if (its.step != meta_.step || its.shards != meta_.shards || its.seed != meta_.seed || its.model != meta_.model)
            base::fail(files_.back()->path().string(), " belongs to another checkpoint");
    }
}

void CheckpointReader::verify() const
{
    for (const auto& file : files_)
        for (const std::string& path : file->paths()) file->bytes(path);
}

void CheckpointReader::read(std::span<const StateTensor> tensors, int rank) const
{
    for (const StateTensor& tensor : tensors) {
        const auto own = static_cast<std::size_t>(rank);
        const auto holds = [&](const auto& file) { return file->holds(tensor.path); };
        const auto any = std::find_if(files_.begin(), files_.end(), holds);
        if (any == files_.end()) base::fail(files_.front()->path().string(), ": there is no /", tensor.path);
        (own < files_.size() && holds(files_[own]) ? files_[own] : *any)->read(tensor);
    }
}

std::map<std::string, std::vector<std::byte>> CheckpointReader::tensors() const
{
    std::map<std::string, std::vector<std::byte>> all;
    for (const auto& file : files_)
        for (const std::string& path : file->paths()) all[path] = file->bytes(path);
    return all;
}

}  // namespace ddl
