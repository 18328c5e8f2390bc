// SPDX-License-Identifier: Apache-2.0
// The layout of safetensors, which other programs can map into memory: the length of the header in 8 bytes, the header
// in JSON, the tensors' bytes. `__metadata__` has the head and, as "crc32c NAME", the tensors' checksums. The last
// tensor, named crc32c, is the CRC-32C of everything before the tensors.
// Layout: https://github.com/huggingface/safetensors#format
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/clock.hpp"
#include "base/units.hpp"
#include "ddl-workloads/checkpoint/checkpoint_format.hpp"
#include "ddl-workloads/checkpoint/formats/offset_output.hpp"
#include "soft-errors/state/checksums.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <thread>

namespace ddl {

namespace fs = std::filesystem;

namespace {

constexpr const char* head_member = "__metadata__";
const std::string sum = base::checkpoint::checksum;  // name of the last tensor, and prefix of the others' checksums
constexpr std::size_t length_bytes = sizeof(std::uint64_t);
constexpr std::size_t most_tensors = 9'000;  // base::parse_json() takes 10,000 members
constexpr std::size_t sum_bytes = sizeof(std::uint32_t);

struct ElementName {
    const char* name;
    std::size_t bytes;
};

ElementName element(ElementType type)
{
    static_assert(std::endian::native == std::endian::little, "tensors are written as they are in memory");
    switch (type) {
        case ElementType::float32:
            return {"F32", 4};
        case ElementType::float64:
            return {"F64", 8};
        case ElementType::int32:
            return {"I32", 4};
        case ElementType::int64:
            return {"I64", 8};
        case ElementType::uint8:
            break;
    }
    return {"U8", 1};
}

// ----------------------------------------------------------------------------------------------------------- writing

nlohmann::json make_header(const NewFile& file, std::span<const StateTensor> tensors)
{
    nlohmann::json header;
    for (const auto& [name, value] : head_of(file.meta, file.shard, tensors.size()))
        header[head_member][name] = std::visit([](const auto& one) { return base::join(one); }, value);
    std::size_t place = 0;
    const auto add = [&](const std::string& name, const char* type, const auto& shape, std::size_t bytes) {
        header[name] = {{"dtype", type}, {"shape", shape}, {"data_offsets", {place, place + bytes}}};
        place += bytes;
    };
    for (const StateTensor& tensor : tensors)
        add(tensor.path, element(tensor.type).name, tensor.shape, tensor.bytes.size());
    add(sum, "U8", std::array{sum_bytes}, sum_bytes);
    return header;
}

std::string header_text(nlohmann::json& header, std::span<const StateTensor> tensors,
                        std::span<const std::uint32_t> checksums)
{
    for (std::size_t i = 0; i < tensors.size(); ++i)
        header[head_member][sum + " " + tensors[i].path] = checksum_text(checksums[i]);
    std::string text = base::json_text(header, base::one_line);
    text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
    const std::uint64_t length = text.size();
    std::string with_length(length_bytes, '\0');
    std::memcpy(with_length.data(), &length, length_bytes);
    return with_length + text;
}

Written write_raw(const NewFile& file, std::span<const StateTensor> tensors)
{
    const std::int64_t begin = base::now_ns();
    // Wide elements first: all tensors are aligned then, without gaps.
    std::vector<StateTensor> ordered(tensors.begin(), tensors.end());
    std::stable_sort(ordered.begin(), ordered.end(), [](const StateTensor& a, const StateTensor& b) {
        return element(a.type).bytes > element(b.type).bytes;
    });
    nlohmann::json header = make_header(file, ordered);
    std::vector<std::uint32_t> checksums(ordered.size());
    const std::size_t data = header_text(header, ordered, checksums).size();
    OffsetOutput output{file.path};
    std::size_t end = data;
    {
        const std::jthread writer{[&] {
            for (const StateTensor& tensor : ordered) {
                output.write(end, tensor.bytes);
                end += tensor.bytes.size();
            }
        }};
        for (std::size_t i = 0; i < ordered.size(); ++i) checksums[i] = soft_errors::crc32c(ordered[i].bytes);
    }
    const std::string front = header_text(header, ordered, checksums);
    const std::uint32_t of_front = soft_errors::crc32c(std::as_bytes(std::span{front}));
    output.write(end, std::as_bytes(std::span{&of_front, 1}));
    output.write(0, std::as_bytes(std::span{front}));
    const std::int64_t filled = base::now_ns();
    return {.write_ns = filled - begin,
            .sync_ns = output.finish(file.durable),
            .bytes = static_cast<std::int64_t>(output.size())};
}

// ----------------------------------------------------------------------------------------------------------- reading

// Runs `work`, which reads a header. Throws Error if a member is missing or has another type.
template <class Work>
auto reading(const Work& work)
{
    try {
        return work();
    } catch (const nlohmann::json::exception& error) {
        base::fail("its header is not one that ddl-train writes (", error.what(), ")");
    }
}

class Metadata final : public Head {
 public:
    explicit Metadata(const nlohmann::ordered_json& texts) : texts_{texts} {}
    bool has(const char* name) const override { return texts_.contains(name); }
    std::int64_t number(const char* name) const override { return base::parse<std::int64_t>(text(name)); }
    std::string text(const char* name) const override { return texts_.at(name).get<std::string>(); }

 private:
    const nlohmann::ordered_json& texts_;
};

class RawFile final : public CheckpointFile {
 public:
    RawFile(const fs::path& path, std::int64_t shard) : CheckpointFile{path}
    {
        base::refuse_irregular(path);
        file_.open(path, std::ios::binary);
        if (!file_) base::fail("cannot open ", path.string());
        length_ = fs::file_size(path);
        naming("", [&] {
            reading([&] {
                header_ = base::parse_json(checked_front(), "its header");
                for (const auto& member : header_.items())
                    if (member.key() != head_member && member.key() != sum) paths_.push_back(member.key());
                std::sort(paths_.begin(), paths_.end());
                meta_ = read_head(Metadata{header_.at(head_member)}, shard, paths_.size());
            });
        });
    }

    std::vector<std::byte> bytes(const std::string& path) const override
    {
        return naming(path, [&] {
            return reading([&] {
                const auto [begin, size] = place_of(path);
                std::vector<std::byte> bytes(size);
                read_checked(path, begin, bytes);
                return bytes;
            });
        });
    }

    void read(const StateTensor& tensor) const override
    {
        naming(tensor.path, [&] {
            reading([&] {
                const nlohmann::ordered_json& entry = header_.at(tensor.path);
                if (entry.at("dtype") != element(tensor.type).name)
                    base::fail("its element type differs from the model's");
                if (entry.at("shape") != nlohmann::ordered_json(tensor.shape))
                    base::fail("its shape differs from the model's");
                const auto [begin, size] = place_of(tensor.path);
                if (size != tensor.bytes.size()) base::fail("its size differs from the model's");
                read_checked(tensor.path, begin, tensor.bytes);
            });
        });
    }

 private:
    struct Place {
        std::uint64_t begin = 0;
        std::size_t size = 0;
    };

    void read_at(std::uint64_t at, std::span<std::byte> room) const
    {
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(at));
        if (!file_.read(reinterpret_cast<char*>(room.data()), static_cast<std::streamsize>(room.size())))
            base::fail("is damaged or cut off");
    }

    // Reads the header and compares its checksum.
    std::string checked_front()
    {
        std::uint64_t length = 0;
        std::uint32_t written = 0;
        if (length_ < length_bytes + sum_bytes) base::fail("is not a checkpoint of ddl-train");
        read_at(0, std::as_writable_bytes(std::span{&length, 1}));
        if (length > length_ - length_bytes - sum_bytes) base::fail("is not a checkpoint of ddl-train, or is cut off");
        std::string front(length_bytes + length, '\0');
        read_at(0, std::as_writable_bytes(std::span{front}));
        read_at(length_ - sum_bytes, std::as_writable_bytes(std::span{&written, 1}));
        check_checksum(soft_errors::crc32c(std::as_bytes(std::span{front})), written);
        data_ = front.size();
        return front.substr(length_bytes);
    }

    // Position of a tensor's bytes. Throws Error if the header places it outside of the file.
    Place place_of(const std::string& path) const
    {
        const nlohmann::ordered_json& offsets = header_.at(path).at("data_offsets");
        const auto begin = offsets.at(0).get<std::uint64_t>();
        const auto end = offsets.at(1).get<std::uint64_t>();
        if (begin > end || end > length_ - data_) base::fail("is outside of its file");
        return {.begin = data_ + begin, .size = end - begin};
    }

    void read_checked(const std::string& path, std::uint64_t begin, std::span<std::byte> room) const
    {
        const auto written = header_.at(head_member).at(sum + " " + path).get<std::string>();
        read_at(begin, room);
        const std::uint32_t found = soft_errors::crc32c(room);
        if (checksum_text(found) != written)
            base::fail("is damaged: its CRC-32C is ", checksum_text(found), ", not ", written);
    }

    mutable std::ifstream file_;
    std::uint64_t length_ = 0;
    std::uint64_t data_ = 0;  // where the tensors begin
    nlohmann::ordered_json header_;
};

}  // namespace

extern const CheckpointFormat raw_checkpoint;
const CheckpointFormat raw_checkpoint{
    .name = "raw",
    .summary = "a header in JSON and the bytes, as safetensors has them",
    .extension = base::checkpoint::raw_end,
    .most_tensors = most_tensors,
    .write = write_raw,
    .write_index = [](const NewFile& file,
                      const std::vector<std::vector<std::string>>&) { return write_raw(file, {}); },
    .open = [](const fs::path& path, std::int64_t shard) -> std::unique_ptr<CheckpointFile> {
        return std::make_unique<RawFile>(path, shard);
    },
};

}  // namespace ddl
