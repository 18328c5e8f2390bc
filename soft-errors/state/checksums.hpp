// SPDX-License-Identifier: Apache-2.0
// Checksums, by ISA-L where it is installed, which is several times as fast as a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace soft_errors {

// The CRC-32C checksum of the bytes (Castagnoli; RFC 3720).
std::uint32_t crc32c(std::span<const std::byte> bytes);

// The same by a table, for any machine.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes);

// The CRC-32 checksum of the bytes, as in gzip and zlib (RFC 1952).
std::uint32_t crc32(std::span<const std::byte> bytes);

// The change of a checksum (exclusive or) if one byte changes by `difference` (exclusive or) and `behind` bytes follow
// it. A CRC is linear, so no other data is needed.
class ChecksumChange {
 public:
    // Castagnoli's or zlib's polynomial, both with reflected bits as above.
    enum class Of { crc32c, crc32 };
    explicit ChecksumChange(Of of);

    std::uint32_t operator()(std::byte difference, std::uint64_t behind) const;

 private:
    std::uint32_t multiplied(std::uint32_t left, std::uint32_t right) const;

    std::uint32_t polynomial_;
    std::array<std::array<std::uint32_t, 256>, 8> powers_{};  // [i][n]: x^(8 n 256^i)
};

}  // namespace soft_errors
