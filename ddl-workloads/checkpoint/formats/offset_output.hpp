// SPDX-License-Identifier: Apache-2.0
// A new file that is written at offsets. Failed writes do not throw; finish() reports them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace ddl {

class OffsetOutput {
 public:
    // Creates the file. Throws std::system_error.
    explicit OffsetOutput(std::filesystem::path path);
    ~OffsetOutput();
    OffsetOutput(const OffsetOutput&) = delete;
    OffsetOutput& operator=(const OffsetOutput&) = delete;

    // One thread at a time.
    void write(std::uint64_t at, std::span<const std::byte> bytes) noexcept;
    void read(std::uint64_t at, std::span<std::byte> room) const noexcept;
    void resize(std::uint64_t size) noexcept;
    std::uint64_t size() const noexcept { return size_; }

    // Throws std::system_error if a write failed. `durable`: the data is on the device, not only in the page cache.
    // Returns the time in ns that fsync took.
    std::int64_t finish(bool durable);

 private:
    std::filesystem::path path_;
    int file_ = -1;
    std::uint64_t size_ = 0;
    int error_ = 0;  // errno of the first failed write
};

}  // namespace ddl
