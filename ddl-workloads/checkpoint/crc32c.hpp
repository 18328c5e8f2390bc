// CRC-32C (Castagnoli; RFC 3720): finds every burst of damage up to 32 bits, and processors compute it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ddl {

std::uint32_t crc32c(std::span<const std::byte> bytes);

// The same without the processor's instruction.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes);

}  // namespace ddl
