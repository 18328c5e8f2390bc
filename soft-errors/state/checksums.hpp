// SPDX-License-Identifier: Apache-2.0
// Checksums by ISA-L where it is installed, several times as fast as what else there is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace soft_errors {

// CRC-32C (Castagnoli; RFC 3720).
std::uint32_t crc32c(std::span<const std::byte> bytes);

// The same by a table, on any machine.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes);

// CRC-32 as in gzip and zlib (RFC 1952).
std::uint32_t crc32(std::span<const std::byte> bytes);

// By how much a checksum changes (exclusive or) if one byte changes by `difference` (exclusive or) with `behind` bytes
// after it: a CRC is linear, so that nothing else of the data is needed.
class ChecksumChange {
 public:
    // In the order of the bits in which the two above take them: Castagnoli's or zlib's polynomial.
    enum class Of { crc32c, crc32 };
    explicit ChecksumChange(Of of);

    std::uint32_t operator()(std::byte difference, std::uint64_t behind) const;

 private:
    std::uint32_t multiplied(std::uint32_t left, std::uint32_t right) const;

    std::uint32_t polynomial_;
    std::array<std::array<std::uint32_t, 256>, 8> powers_{};  // x^(8 n 256^i) for digit i, n, of the bytes behind
};

}  // namespace soft_errors
