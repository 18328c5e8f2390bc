#include "ddl-workloads/data/checksums.hpp"

#include <boost/crc.hpp>

#include <algorithm>

#ifdef CROSSTALK_ISAL
#include <isa-l/crc.h>
#else
#include <zlib.h>
#endif

namespace ddl {

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes)
{
    boost::crc_optimal<32, 0x1edc6f41, ~0U, ~0U, true, true> crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

#ifdef CROSSTALK_ISAL

std::uint32_t crc32c(std::span<const std::byte> bytes)
{
    constexpr std::size_t most = std::size_t{1} << 30U;  // ISA-L counts in an int
    std::uint32_t remainder = ~0U;
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

std::uint32_t crc32c(std::span<const std::byte> bytes)
{
    return crc32c_by_table(bytes);
}

std::uint32_t crc32(std::span<const std::byte> bytes)
{
    return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

#endif

}  // namespace ddl
