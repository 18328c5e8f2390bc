// SPDX-License-Identifier: Apache-2.0
// The file of torch.save() for a tuple: a dictionary with the head, as texts, and one with the tensors. The archive's
// comment is the CRC-32C of everything before it.
#ifdef CROSSTALK_DDL_TORCH

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/units.hpp"
#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/checkpoint/formats/offset_output.hpp"
#include "ddl-workloads/models/torch_makers.hpp"
#include "ddl-workloads/models/torch_models.hpp"
#include "soft-errors/state/checksums.hpp"

#include <algorithm>
#include <cstring>

namespace ddl {

namespace fs = std::filesystem;

namespace {

constexpr std::uint16_t comment_bytes = sizeof(std::uint32_t);

Written write_torch(const NewFile& file, std::span<const StateTensor> tensors)
{
    const std::int64_t begin = base::now_ns();
    std::map<std::string, std::string> texts;
    for (const auto& [name, value] : head_of(file.meta, file.shard, tensors.size()))
        texts[name] = std::visit([](const auto& one) { return base::join(one); }, value);
    std::vector<char> archive = torch_library().to_archive(texts, tensors);
    // A zip archive ends in the length of its comment, and the comment.
    std::memcpy(archive.data() + archive.size() - sizeof comment_bytes, &comment_bytes, sizeof comment_bytes);
    const std::uint32_t checksum = soft_errors::crc32c(std::as_bytes(std::span{archive}));
    OffsetOutput output{file.path};
    output.write(0, std::as_bytes(std::span{archive}));
    output.write(archive.size(), std::as_bytes(std::span{&checksum, 1}));
    const std::int64_t filled = base::now_ns();
    return {.write_ns = filled - begin,
            .sync_ns = output.finish(file.durable),
            .bytes = static_cast<std::int64_t>(output.size())};
}

class Texts final : public Head {
 public:
    explicit Texts(const std::map<std::string, std::string>& texts) : texts_{texts} {}
    bool has(const char* name) const override { return texts_.contains(name); }
    std::int64_t number(const char* name) const override { return base::parse<std::int64_t>(text(name)); }
    std::string text(const char* name) const override
    {
        const auto found = texts_.find(name);
        if (found == texts_.end()) base::fail("its head lacks ", name);
        return found->second;
    }

 private:
    const std::map<std::string, std::string>& texts_;
};

// Reads the whole file into memory.
class TorchFile final : public CheckpointFile {
 public:
    TorchFile(const fs::path& path, std::int64_t shard) : CheckpointFile{path}
    {
        base::refuse_irregular(path);
        const std::string content = base::read_whole(path, fs::exists(path) ? fs::file_size(path) : 1);
        naming("", [&] {
            if (content.size() < 2 * comment_bytes || !content.starts_with("PK"))
                base::fail("is not a checkpoint of ddl-train");
            const std::string_view archive = std::string_view{content}.substr(0, content.size() - comment_bytes);
            std::uint32_t written = 0;
            std::memcpy(&written, content.data() + archive.size(), comment_bytes);
            check_checksum(soft_errors::crc32c(std::as_bytes(std::span{archive})), written);
            archive_ = torch_library().from_archive({content.begin(), content.end()});
            for (const auto& [name, tensor] : archive_.tensors) paths_.push_back(name);
            meta_ = read_head(Texts{archive_.texts}, shard, paths_.size());
        });
    }

    std::vector<std::byte> bytes(const std::string& path) const override { return archive_.tensors.at(path).bytes; }

    void read(const StateTensor& tensor) const override
    {
        naming(tensor.path, [&] {
            const ArchivedTensor& stored = archive_.tensors.at(tensor.path);
            if (stored.type != tensor.type) base::fail("its element type differs from the model's");
            if (stored.shape != tensor.shape) base::fail("its shape differs from the model's");
            if (stored.bytes.size() != tensor.bytes.size()) base::fail("its size differs from the model's");
            std::copy(stored.bytes.begin(), stored.bytes.end(), tensor.bytes.begin());
        });
    }

 private:
    TorchArchive archive_;
};

}  // namespace

extern const CheckpointFormat torch_checkpoint;
const CheckpointFormat torch_checkpoint{
    .name = "torch",
    .summary = "two dictionaries as torch.load reads them: the head, the tensors",
    .extension = base::checkpoint::torch_end,
    .write = write_torch,
    .write_index = [](const NewFile& file,
                      const std::vector<std::vector<std::string>>&) { return write_torch(file, {}); },
    .open = [](const fs::path& path, std::int64_t shard) -> std::unique_ptr<CheckpointFile> {
        return std::make_unique<TorchFile>(path, shard);
    },
};

}  // namespace ddl

#endif
