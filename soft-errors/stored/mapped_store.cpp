// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/stored/mapped_store.hpp"

#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>

namespace soft_errors {

MappedStore::MappedStore(const StoredFile& file, std::uint64_t room_to_grow)
    : size_{file.bytes}, room_{file.bytes + room_to_grow}
{
    constexpr std::uint64_t page = 65536;  // largest page size of any machine
    const base::Descriptor opened =
        base::check_errno(::open(file.path.c_str(), O_RDONLY | O_CLOEXEC), "open ", file.path.string());
    const std::uint64_t before = file.at % page;
    mapped_ = before + room_ + page;
    void* const place =
        ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) base::check_errno(-1, "map ", file.path.string());
    map_ = static_cast<std::byte*>(place);
    begin_ = map_ + before;
    if (::mmap(map_, before + size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, opened,
               static_cast<off_t>(file.at - before)) == MAP_FAILED) {
        const int code = errno;
        ::munmap(map_, mapped_);
        throw std::system_error{code, std::generic_category(), "cannot map " + file.path.string()};
    }
}

MappedStore::~MappedStore()
{
    ::munmap(map_, mapped_);
}

void MappedStore::read(std::uint64_t at, std::span<std::byte> room) const noexcept
{
    const std::uint64_t there = at < size_ ? std::min<std::uint64_t>(room.size(), size_ - at) : 0;
    if (there > 0) std::memcpy(room.data(), begin_ + at, there);
    std::fill(room.begin() + static_cast<std::ptrdiff_t>(there), room.end(), std::byte{0});
}

void MappedStore::write(std::uint64_t at, std::span<const std::byte> bytes) noexcept
{
    if (at > room_ || bytes.size() > room_ - at) {
        too_large_ = true;
        return;
    }
    std::memcpy(begin_ + at, bytes.data(), bytes.size());
    written_.emplace_back(at, at + bytes.size());
    size_ = std::max(size_, at + bytes.size());
}

// The file only grows: bytes past HDF5's own end stay.
void MappedStore::resize(std::uint64_t size) noexcept
{
    too_large_ = too_large_ || size > room_;
    if (size > size_ && size <= room_) size_ = size;
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> MappedStore::written() const
{
    if (too_large_) base::fail("grows beyond its reserved size");
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sorted = written_;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::pair<std::uint64_t, std::uint64_t>> merged;
    for (const auto& [begin, end] : sorted) {
        if (!merged.empty() && begin <= merged.back().second)
            merged.back().second = std::max(merged.back().second, end);
        else
            merged.emplace_back(begin, end);
    }
    return merged;
}

}  // namespace soft_errors
