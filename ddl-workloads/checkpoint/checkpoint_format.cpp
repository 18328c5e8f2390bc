// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_format.hpp"

#include "base/system/clock.hpp"
#include "base/version.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace ddl {

namespace fs = std::filesystem;

#define CHECKPOINT_FORMAT(card) extern const CheckpointFormat card;
#include "ddl-workloads/checkpoint/formats.inc"
#undef CHECKPOINT_FORMAT

const base::Registry<CheckpointFormat>& checkpoint_formats()
{
    static const base::Registry<CheckpointFormat> registry{"checkpoint format",
                                                           "ddl-train",
                                                           {
#define CHECKPOINT_FORMAT(card) &(card),
#include "ddl-workloads/checkpoint/formats.inc"
#undef CHECKPOINT_FORMAT
                                                           }};
    return registry;
}

namespace {

const CheckpointFormat* find_format(const fs::path& checkpoint)
{
    for (const CheckpointFormat* format : checkpoint_formats().cards())
        if (fs::exists(checkpoint_file(checkpoint, *format))) return format;
    return nullptr;
}

}  // namespace

std::string checksum_text(std::uint32_t checksum)
{
    std::array<char, 9> digits{};
    std::snprintf(digits.data(), digits.size(), "%08x", checksum);
    return digits.data();
}

const CheckpointFormat& format_of(const fs::path& checkpoint)
{
    const CheckpointFormat* const found = find_format(checkpoint);
    return found != nullptr ? *found : *checkpoint_formats().cards().front();
}

bool is_checkpoint(const fs::path& directory)
{
    return find_format(directory) != nullptr;
}

fs::path checkpoint_file(const fs::path& checkpoint, const CheckpointFormat& format)
{
    return checkpoint / (base::checkpoint::index_begin + format.extension);
}

fs::path shard_file(const fs::path& checkpoint, std::int64_t shard, const CheckpointFormat& format)
{
    return checkpoint / base::join(base::checkpoint::shard_begin, shard, format.extension);
}

HeadValues head_of(const CheckpointMeta& meta, std::int64_t shard, std::size_t tensors)
{
    return {{"format", checkpoint_format},
            {base::checkpoint::program, "ddl-train"},
            {"version", base::version()},
            {"git_revision", base::git_revision()},
            {"written_ns", base::now_ns() + base::realtime_offset_ns()},
            {"step", meta.step},
            {"epoch", meta.step / meta.steps_per_epoch},
            {"step_in_epoch", meta.step % meta.steps_per_epoch},
            {base::checkpoint::steps_per_epoch, meta.steps_per_epoch},
            {"seed", static_cast<std::int64_t>(meta.seed)},
            {"batch", meta.batch},
            {"accumulate", meta.accumulate},
            {"ranks", meta.ranks},
            {"model", meta.model},
            {"data", meta.data},
            {"strategy", meta.strategy},
            {"optimizer", meta.optimizer},
            {"rates", meta.rates},
            {"content", meta.content},
            {"by", meta.by},
            {"compress", meta.compress},
            {"shards", meta.shards},
            {"shard", shard},
            {"tensors", static_cast<std::int64_t>(tensors)}};
}

CheckpointMeta read_head(const Head& head, std::int64_t shard, std::size_t tensors)
{
    if (head.text(base::checkpoint::program) != "ddl-train") base::fail("not a checkpoint of ddl-train");
    if (const std::int64_t format = head.number("format"); format != checkpoint_format)
        base::fail("has format ", format, ", but this version reads format ", checkpoint_format);
    if (head.number("shard") != shard) base::fail("was written under another name");
    if (const std::int64_t written = head.number("tensors"); written != static_cast<std::int64_t>(tensors))
        base::fail("holds ", tensors, " tensors; ", written, " were written");
    CheckpointMeta meta;
    meta.step = head.number("step");
    meta.steps_per_epoch = head.number(base::checkpoint::steps_per_epoch);
    meta.seed = static_cast<std::uint64_t>(head.number("seed"));
    meta.batch = head.number("batch");
    meta.accumulate = head.number("accumulate");
    meta.ranks = head.number("ranks");
    meta.model = head.text("model");
    meta.data = head.text("data");
    meta.strategy = head.text("strategy");
    meta.optimizer = head.text("optimizer");
    if (head.has("rates")) meta.rates = head.text("rates");
    if (head.has("content")) meta.content = head.text("content");
    if (head.has("by")) meta.by = head.text("by");
    if (head.has("compress")) meta.compress = head.text("compress");
    meta.shards = head.number("shards");
    return meta;
}

void check_checksum(std::uint32_t found, std::uint32_t written)
{
    if (found != written)
        base::fail("is damaged: its CRC-32C is ", checksum_text(found), ", not ", checksum_text(written));
}

bool CheckpointFile::holds(const std::string& path) const
{
    return std::binary_search(paths_.begin(), paths_.end(), path);
}

}  // namespace ddl
