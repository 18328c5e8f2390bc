#include "ddl-workloads/checksums.hpp"

#include <boost/crc.hpp>

#include <algorithm>

#ifdef CROSSTALK_ISAL
#include <isa-l/crc.h>
#else
#include <zlib.h>
#endif

namespace ddl {

namespace {

std::uint32_t mirrored(std::uint32_t bits)
{
    std::uint32_t mirror = 0;
    for (int bit = 0; bit < 32; ++bit, bits >>= 1U) mirror = (mirror << 1U) | (bits & 1U);
    return mirror;
}

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before)
{
    boost::crc_optimal<32, 0x1edc6f41, 0, ~0U, true, true> crc{mirrored(~before)};
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

#ifdef CROSSTALK_ISAL

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before)
{
    constexpr std::size_t most = std::size_t{1} << 30U;  // ISA-L counts in an int
    std::uint32_t remainder = ~before;
    while (!bytes.empty()) {
        const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), most));
        auto* const begin = const_cast<std::byte*>(piece.data());  // is only read
        remainder = ::crc32_iscsi(reinterpret_cast<unsigned char*>(begin), static_cast<int>(piece.size()), remainder);
        bytes = bytes.subspan(piece.size());
    }
    return ~remainder;
}

std::uint32_t crc32(std::span<const std::byte> bytes)
{
    return ::crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

#else

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before)
{
    return crc32c_by_table(bytes, before);
}

std::uint32_t crc32(std::span<const std::byte> bytes)
{
    return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

#endif

}  // namespace ddl
