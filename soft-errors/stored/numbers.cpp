// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/numbers.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "soft-errors/state/checksums.hpp"
#include "soft-errors/state/confined_work.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

namespace soft_errors {

namespace {

// Reads single bytes directly, and close ones in one read.
class Window {
 public:
    explicit Window(const StoredFile& file)
        : path_{file.path.string()},
          file_{base::check_errno(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), "open ", path_)}
    {
    }

    const std::byte* at(std::uint64_t place, std::size_t size)
    {
        constexpr std::uint64_t close = 16 << 10U;
        if (place < begin_ || place + size > begin_ + filled_) {
            const bool many = place >= last_ && place - last_ < close;
            read(place, many ? room_.size() : size);
            if (filled_ < size) base::fail(path_, " was truncated");
        }
        last_ = place;
        return room_.data() + (place - begin_);
    }

 private:
    void read(std::uint64_t place, std::size_t size)
    {
        begin_ = place;
        filled_ = static_cast<std::size_t>(
            base::check_errno(::pread(file_, room_.data(), size, static_cast<off_t>(place)), "read ", path_));
    }

    std::string path_;
    base::Descriptor file_;
    std::vector<std::byte> room_ = std::vector<std::byte>(256 << 10U);
    std::uint64_t begin_ = 0;
    std::size_t filled_ = 0;
    std::uint64_t last_ = UINT64_MAX;
};

bool is_packed(const StoredState& state, const Number& number)
{
    return state.tensors[number.tensor].layout == Tensor::Layout::packed;
}

WorkLimits limits_for(const StoredFile& file)
{
    constexpr std::uint64_t bytes_per_s = 5'000'000;  // lowest speed of packing, under a sanitizer
    WorkLimits limits;
    limits.memory_bytes += 4 * file.bytes;
    limits.cpu_s += static_cast<std::int64_t>(file.bytes / bytes_per_s);
    return limits;
}

template <class Value>
void append(std::string& bytes, const Value& value)
{
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class Value>
Value take(std::string_view& bytes)
{
    Value value{};
    if (bytes.size() < sizeof value) base::fail("the reading process sent too little");
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return value;
}

void read_packed_numbers(const StoredState& state, std::vector<Number>& numbers)
{
    for (std::size_t file = 0; file < state.files.size(); ++file) {
        const auto here = [&](const Number& one) {
            return is_packed(state, one) && state.tensors[one.tensor].file == file;
        };
        std::vector<Number> wanted;
        std::copy_if(numbers.begin(), numbers.end(), std::back_inserter(wanted), here);
        if (wanted.empty()) continue;
        const StoredFile& stored = state.files[file];
        const std::string answer = confined_work(stored.path.string(), limits_for(stored), [&] {
            read_packed(state, file, wanted);
            std::string bytes;
            for (const Number& one : wanted) append(bytes, one.bits);
            return bytes;
        });
        std::string_view left{answer};
        for (Number& one : numbers)
            if (here(one)) one.bits = take<std::uint64_t>(left);
    }
}

// The change of a tensor's checksum, which is over its bytes row by row.
std::uint32_t tensor_change(const ChecksumChange& change, const Tensor& tensor, const Number& before,
                            const Number& after)
{
    std::array<std::byte, 8> difference{};
    store_bits(tensor.format, before.bits ^ after.bits, difference.data());
    const auto size = static_cast<std::uint64_t>(tensor.format.bytes);
    const std::uint64_t behind = (tensor.elements - before.index - 1) * size;
    std::uint32_t all = 0;
    for (std::uint64_t i = 0; i < size; ++i)
        if (difference.at(i) != std::byte{0}) all ^= change(difference.at(i), behind + size - 1 - i);
    return all;
}

std::vector<NewChecksum> new_checksums(const StoredState& state, const std::vector<Number>& before,
                                       const std::vector<Number>& after)
{
    std::optional<ChecksumChange> change;
    std::vector<NewChecksum> all;
    for (std::size_t i = 0; i < before.size(); ++i) {
        const Tensor& tensor = state.tensors[before[i].tensor];
        if (!tensor.crc32c) continue;
        if (!change) change.emplace(ChecksumChange::Of::crc32c);
        if (all.empty() || all.back().tensor != before[i].tensor) all.push_back({before[i].tensor, *tensor.crc32c});
        all.back().value ^= tensor_change(*change, tensor, before[i], after[i]);
    }
    return all;
}

std::string bytes_of(const Tensor& tensor, std::uint64_t bits)
{
    std::string bytes(static_cast<std::size_t>(tensor.format.bytes), '\0');
    store_bits(tensor.format, bits, reinterpret_cast<std::byte*>(bytes.data()));
    return bytes;
}

// Adds a patch for each run of differing bytes, because other patches may change the bytes between them.
void add_difference(std::vector<Patch>& patches, const Patch& all)
{
    const std::size_t size = all.before.size();
    for (std::size_t begin = 0; begin < size; ++begin) {
        std::size_t end = begin;
        while (end < size && all.before[end] != all.after[end]) ++end;
        if (end == begin) continue;
        patches.push_back({.file = all.file,
                           .at = all.at + begin,
                           .before = all.before.substr(begin, end - begin),
                           .after = all.after.substr(begin, end - begin)});
        begin = end;
    }
}

// Adds the bytes that HDF5 would write, found in a child process that does not write the file.
void add_packed(std::vector<Patch>& patches, const StoredState& state, std::size_t file,
                const std::vector<Number>& numbers, const std::vector<NewChecksum>& checksums)
{
    const StoredFile& stored = state.files[file];
    const std::string answer = confined_work(stored.path.string(), limits_for(stored), [&] {
        std::string bytes;
        for (const NewBytes& one : written_by_hdf5(state, file, numbers, checksums)) {
            append(bytes, one.at);
            append(bytes, static_cast<std::uint64_t>(one.bytes.size()));
            bytes += one.bytes;
        }
        return bytes;
    });
    const base::Descriptor opened =
        base::check_errno(::open(stored.path.c_str(), O_RDONLY | O_CLOEXEC), "open ", stored.path.string());
    std::uint64_t end = 0;
    for (std::string_view left{answer}; !left.empty();) {
        const auto at = take<std::uint64_t>(left);
        const auto size = take<std::uint64_t>(left);
        end = at + size;
        if (size > left.size()) base::fail("the reading process sent too little");
        if (stored.member && at + size > stored.bytes)
            base::fail(stored.path.string(), ": its compressed tensors no longer fit; extract the .h5 and alter that");
        Patch patch{.file = static_cast<std::uint32_t>(file), .at = stored.at + at, .before = std::string(size, '\0')};
        base::check_errno(::pread(opened, patch.before.data(), size, static_cast<off_t>(patch.at)), "read ",
                          stored.path.string());
        patch.after = left.substr(0, size);
        left.remove_prefix(size);
        add_difference(patches, patch);
    }
    // HDF5 refuses a file that lacks its last byte, even if that byte is zero.
    const bool ends = !patches.empty() && patches.back().file == file && patches.back().end() == stored.at + end;
    if (end > stored.bytes && !ends)
        patches.push_back({.file = static_cast<std::uint32_t>(file),
                           .at = stored.at + end - 1,
                           .before = std::string(1, '\0'),
                           .after = std::string(1, '\0')});
}

// Updates the CRC-32 of the member in its zip archive.
void add_member_checksum(std::vector<Patch>& patches, const StoredState& state, std::size_t file)
{
    const StoredFile& stored = state.files[file];
    if (!stored.member) return;
    const ChecksumChange change{ChecksumChange::Of::crc32};
    std::uint32_t crc = stored.member->crc32;
    for (const Patch& patch : patches)
        for (std::size_t i = 0; patch.file == file && i < patch.after.size(); ++i)
            if (patch.before[i] != patch.after[i])
                crc ^= change(static_cast<std::byte>(patch.before[i] ^ patch.after[i]),
                              stored.at + stored.bytes - 1 - (patch.at + i));
    const Tensor as_number{.format = {.kind = NumberFormat::Kind::natural, .bytes = 4}};
    for (const std::uint64_t place : stored.member->crc32_at)
        add_difference(patches, {.file = static_cast<std::uint32_t>(file),
                                 .at = place,
                                 .before = bytes_of(as_number, stored.member->crc32),
                                 .after = bytes_of(as_number, crc)});
}

}  // namespace

void read_numbers(const StoredState& state, std::vector<Number>& numbers)
{
    std::optional<Window> window;
    std::size_t open = SIZE_MAX;
    for (Number& number : numbers) {
        const Tensor& tensor = state.tensors[number.tensor];
        if (is_packed(state, number)) continue;
        if (open != tensor.file) window.emplace(state.files[tensor.file]);
        open = tensor.file;
        const std::byte* const bytes =
            window->at(place_of(state, tensor, number.index), static_cast<std::size_t>(tensor.format.bytes));
        number.bits = load_bits(tensor.format, bytes);
    }
    read_packed_numbers(state, numbers);
}

std::vector<Patch> patches_for(const StoredState& state, const std::vector<Number>& before,
                               const std::vector<Number>& after, bool keep_checksum)
{
    std::vector<NewChecksum> checksums;
    if (!keep_checksum) checksums = new_checksums(state, before, after);
    std::vector<Patch> patches;
    for (std::size_t file = 0; file < state.files.size(); ++file) {
        std::vector<Number> packed;
        for (std::size_t i = 0; i < before.size(); ++i) {
            const Tensor& tensor = state.tensors[before[i].tensor];
            if (tensor.file != file || before[i].bits == after[i].bits) continue;
            if (is_packed(state, before[i]))
                packed.push_back(after[i]);
            else
                patches.push_back({.file = static_cast<std::uint32_t>(file),
                                   .at = place_of(state, tensor, before[i].index),
                                   .before = bytes_of(tensor, before[i].bits),
                                   .after = bytes_of(tensor, after[i].bits)});
        }
        std::vector<NewChecksum> here;
        for (const NewChecksum& one : checksums)
            if (state.tensors[one.tensor].file == file) here.push_back(one);
        if (!packed.empty() || !here.empty()) add_packed(patches, state, file, packed, here);
        add_member_checksum(patches, state, file);
    }
    const auto earlier = [](const Patch& left, const Patch& right) {
        return std::pair{left.file, left.at} < std::pair{right.file, right.at};
    };
    if (!std::is_sorted(patches.begin(), patches.end(), earlier)) std::ranges::stable_sort(patches, earlier);
    for (std::size_t i = 1; i < patches.size(); ++i)
        if (patches[i].file == patches[i - 1].file && patches[i].at < patches[i - 1].end())
            base::fail(state.path.string(), ": two of its tensors share bytes: damaged");
    for (std::size_t file = 0; file < state.files.size(); ++file)
        cover_growth(patches, static_cast<std::uint32_t>(file), state.files[file].whole_bytes());
    return patches;
}

}  // namespace soft_errors
