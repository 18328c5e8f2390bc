// Checksums by ISA-L where it is installed, several times as fast as what else there is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ddl {

// CRC-32C (Castagnoli; RFC 3720).
std::uint32_t crc32c(std::span<const std::byte> bytes);

// The same by a table, on any machine.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes);

// CRC-32 as in gzip and zlib (RFC 1952).
std::uint32_t crc32(std::span<const std::byte> bytes);

}  // namespace ddl
