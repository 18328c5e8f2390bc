// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/alteration/difference.hpp"

#include "base/csv.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "soft-errors/alteration/number_differences.hpp"
#include "soft-errors/state/confined_work.hpp"
#include "soft-errors/stored/packed_tensors.hpp"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

namespace soft_errors {

namespace fs = std::filesystem;

namespace {

// Reads a tensor's bytes row by row, a piece at a time.
class Bytes {
 public:
    Bytes(const StoredState& state, const Tensor& tensor) : plain_{tensor.layout == Tensor::Layout::plain}
    {
        if (!plain_) {
            whole_ = read_whole_tensor(state, tensor);
            return;
        }
        const StoredFile& file = state.files[tensor.file];
        path_ = file.path.string();
        file_ = base::check_errno(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), "open ", path_);
        begin_ = file.at + tensor.at;
    }

    std::span<const std::byte> read(std::uint64_t at, std::size_t size)
    {
        if (!plain_) return std::as_bytes(std::span{whole_}).subspan(at, size);
        room_.resize(std::max(room_.size(), size));
        const ssize_t got =
            base::check_errno(::pread(file_, room_.data(), size, static_cast<off_t>(begin_ + at)), "read ", path_);
        if (static_cast<std::size_t>(got) != size) base::fail(path_, " was truncated");
        return {room_.data(), size};
    }

 private:
    bool plain_ = false;
    std::string path_;
    base::Descriptor file_;
    std::uint64_t begin_ = 0;
    std::vector<std::byte> room_;
    std::string whole_;
};

NumberDifferences compare_tensor(const StoredState& first, const Tensor& one, const StoredState& second,
                                 const Tensor& other)
{
    constexpr std::size_t piece = 256 << 10U;
    Bytes left{first, one};
    Bytes right{second, other};
    NumberDifferences all;
    const std::uint64_t size = one.elements * static_cast<std::uint64_t>(one.format.bytes);
    for (std::uint64_t at = 0; at < size; at += piece) {
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(piece, size - at));
        add_differences(one.format, left.read(at, length), right.read(at, length), all);
    }
    return all;
}

// [tensor of the first state]: the same tensor of the second state; nullptr where they cannot be compared, with a
// reason added.
std::vector<const Tensor*> partners(const StoredState& first, const StoredState& second, Difference& difference)
{
    std::map<std::string, const Tensor*> others;
    for (const Tensor& tensor : second.tensors) others.emplace(tensor.path, &tensor);
    std::vector<const Tensor*> all;
    for (const Tensor& tensor : first.tensors) {
        const auto other = others.find(tensor.path);
        const bool there = other != others.end();
        const bool fits = there && other->second->format == tensor.format && other->second->shape == tensor.shape;
        all.push_back(fits ? other->second : nullptr);
        if (!there)
            difference.left_out.push_back(tensor.path + " is only in " + first.path.string());
        else if (!fits)
            difference.left_out.push_back(tensor.path + " has two types or shapes");
        if (there) others.erase(other);
    }
    for (const auto& [path, tensor] : others)
        difference.left_out.push_back(path + " is only in " + second.path.string());
    return all;
}

WorkLimits limits_of(const StoredState& first, const StoredState& second)
{
    constexpr std::uint64_t bytes_per_s = 20'000'000;  // lowest speed, under a sanitizer
    WorkLimits limits;
    for (const StoredState* state : {&first, &second})
        for (const StoredFile& file : state->files) {
            limits.cpu_s += static_cast<std::int64_t>(file.bytes / bytes_per_s);
            limits.memory_bytes += 2 * file.bytes;
        }
    return limits;
}

TensorDifference row_of(const Tensor& tensor, const NumberDifferences& all)
{
    const double l2 = all.squares.root();
    const double norm = all.first_squares.root();
    return {.path = tensor.path,
            .elements = tensor.elements,
            .differing = all.differing,
            .l2 = l2,
            .relative_l2 = l2 == 0.0 ? 0.0 : l2 / norm,
            .largest = all.largest,
            .ulp_largest = all.ulp_largest,
            .not_finite = all.not_finite};
}

}  // namespace

Difference compare(const fs::path& first_path, const fs::path& second_path)
{
    const StoredState first = read_state(first_path);
    const StoredState second = read_state(second_path);
    Difference difference;
    const std::vector<const Tensor*> others = partners(first, second, difference);
    const std::string answer = confined_work(first_path.string(), limits_of(first, second), [&] {
        std::string bytes;
        for (std::size_t i = 0; i < others.size(); ++i) {
            if (others[i] == nullptr) continue;
            const NumberDifferences all = compare_tensor(first, first.tensors[i], second, *others[i]);
            bytes.append(reinterpret_cast<const char*>(&all), sizeof all);
        }
        return bytes;
    });
    std::size_t at = 0;
    for (std::size_t i = 0; i < others.size(); ++i) {
        if (others[i] == nullptr) continue;
        NumberDifferences all;
        if (answer.size() - at < sizeof all) base::fail("the reading process sent too little");
        std::memcpy(&all, answer.data() + at, sizeof all);
        at += sizeof all;
        const Tensor& tensor = first.tensors[i];
        difference.tensors.push_back(row_of(tensor, all));
        auto& flips = difference.flips[format_name(tensor.format)];
        flips.resize(static_cast<std::size_t>(tensor.format.bits()));
        for (std::size_t bit = 0; bit < flips.size(); ++bit) flips[bit] += all.flips.at(bit);
    }
    return difference;
}

void write(const Difference& difference, const fs::path& directory)
{
    using base::CsvWriter;
    fs::create_directories(directory);
    CsvWriter tensors{directory / "difference.csv",
                      {"path", "elements", "differing", "l2", "relative_l2", "largest", "ulp_largest", "not_finite"},
                      CsvWriter::Appear::whole};
    for (const TensorDifference& one : difference.tensors)
        tensors.row(one.path, one.elements, one.differing, one.l2, one.relative_l2, one.largest, one.ulp_largest,
                    one.not_finite);
    CsvWriter bits{directory / "bits.csv", {"type", "bit", "flips"}, CsvWriter::Appear::whole};
    for (const auto& [type, flips] : difference.flips)
        for (std::size_t bit = 0; bit < flips.size(); ++bit) bits.row(type, static_cast<std::int64_t>(bit), flips[bit]);
    tensors.finish();
    bits.finish();
}

}  // namespace soft_errors
