// SPDX-License-Identifier: Apache-2.0
// A private mapping of a file, with room to grow: HDF5 may change its bytes without changing the file.
#pragma once

#include "soft-errors/state/hdf5_store.hpp"
#include "soft-errors/stored/stored_file.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace soft_errors {

class MappedStore final : public hdf5::Store {
 public:
    // Throws std::system_error.
    MappedStore(const StoredFile& file, std::uint64_t room_to_grow = 0);
    ~MappedStore() override;
    MappedStore(const MappedStore&) = delete;
    MappedStore& operator=(const MappedStore&) = delete;

    std::uint64_t size() const noexcept override { return size_; }
    void read(std::uint64_t at, std::span<std::byte> room) const noexcept override;
    void write(std::uint64_t at, std::span<const std::byte> bytes) noexcept override;
    void resize(std::uint64_t size) noexcept override;

    std::span<const std::byte> bytes() const { return {begin_, size_}; }

    // Begin and end of the ranges that were written, in order and without overlaps. Throws Error if they exceeded the
    // room.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> written() const;

 private:
    std::byte* map_ = nullptr;
    std::byte* begin_ = nullptr;
    std::uint64_t mapped_ = 0;
    std::uint64_t size_ = 0;
    std::uint64_t room_ = 0;
    bool too_large_ = false;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> written_;
};

}  // namespace soft_errors
