// SPDX-License-Identifier: Apache-2.0
#include "soft-errors/state/checksums.hpp"

#include <boost/crc.hpp>

#include <algorithm>

#ifdef CROSSTALK_ISAL
#include <isa-l/crc.h>
#else
#include <zlib.h>
#endif

namespace soft_errors {

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes)
{
    boost::crc_optimal<32, 0x1edc6f41, ~0U, ~0U, true, true> crc;
    crc.process_bytes(bytes.data(), bytes.size());
    return crc.checksum();
}

#ifdef CROSSTALK_ISAL

std::uint32_t crc32c(std::span<const std::byte> bytes)
{
    constexpr std::size_t most = std::size_t{1} << 30U;  // ISA-L's length is an int
    std::uint32_t remainder = ~0U;
    while (!bytes.empty()) {
        const std::span<const std::byte> piece = bytes.first(std::min(bytes.size(), most));
        auto* const begin = const_cast<std::byte*>(piece.data());  // ISA-L only reads it
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

// Polynomials over GF(2) modulo the CRC's polynomial, reflected: the highest bit is the coefficient of x^0.
ChecksumChange::ChecksumChange(Of of) : polynomial_{of == Of::crc32c ? 0x82f63b78U : 0xedb88320U}
{
    constexpr std::uint32_t one = 1U << 31U;
    std::uint32_t step = one >> 8U;  // x^8: one byte
    for (auto& digit : powers_) {
        digit[0] = one;
        for (std::size_t n = 1; n < digit.size(); ++n) digit[n] = multiplied(digit[n - 1], step);
        step = multiplied(digit.back(), step);
    }
}

std::uint32_t ChecksumChange::multiplied(std::uint32_t left, std::uint32_t right) const
{
    std::uint32_t product = 0;
    for (std::uint32_t bit = 1U << 31U; bit != 0; bit >>= 1U) {
        if ((left & bit) != 0) product ^= right;
        right = (right >> 1U) ^ ((right & 1U) != 0 ? polynomial_ : 0);
    }
    return product;
}

std::uint32_t ChecksumChange::operator()(std::byte difference, std::uint64_t behind) const
{
    // The remainder of the byte itself, at x^24 to x^31, times x^8.
    std::uint32_t change = static_cast<std::uint32_t>(difference);
    for (int bit = 0; bit < 8; ++bit) change = (change >> 1U) ^ ((change & 1U) != 0 ? polynomial_ : 0);
    for (std::size_t digit = 0; behind != 0; ++digit, behind >>= 8U)
        if ((behind & 255U) != 0) change = multiplied(change, powers_.at(digit)[behind & 255U]);
    return change;
}

}  // namespace soft_errors
