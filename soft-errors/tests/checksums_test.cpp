// SPDX-License-Identifier: Apache-2.0
// Checksums agree with the standards' values, by every implementation.
#include "soft-errors/state/checksums.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <zlib.h>

namespace {

const std::string digits = "123456789";

std::vector<std::byte> some_bytes()
{
    std::vector<std::byte> bytes(20'000);
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * i >> 3U);
    return bytes;
}

}  // namespace

TEST_CASE("CRC-32C is that of the standard")
{
    CHECK(soft_errors::crc32c(std::as_bytes(std::span{digits})) == 0xe3069283);
    const std::vector<std::byte> bytes = some_bytes();
    for (const std::size_t size : {0, 1, 7, 8, 9, 1023, 4096, 20'000}) {
        const std::span<const std::byte> some = std::span{bytes}.first(size);
        CHECK(soft_errors::crc32c(some) == soft_errors::crc32c_by_table(some));
    }
}

TEST_CASE("CRC-32 is zlib's")
{
    CHECK(soft_errors::crc32(std::as_bytes(std::span{digits})) == 0xcbf43926);
    const std::vector<std::byte> bytes = some_bytes();
    for (const std::size_t size : {0, 1, 15, 3073, 20'000})
        CHECK(soft_errors::crc32(std::span{bytes}.first(size)) ==
              ::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), size));
}

TEST_CASE("by how much a checksum changes follows from the bytes that change")
{
    std::vector<std::byte> bytes = some_bytes();
    const soft_errors::ChecksumChange of_crc32c{soft_errors::ChecksumChange::Of::crc32c};
    const soft_errors::ChecksumChange of_crc32{soft_errors::ChecksumChange::Of::crc32};
    for (const std::size_t at : {0, 1, 255, 256, 19'743, 19'999}) {
        const std::uint32_t crc32c = soft_errors::crc32c_by_table(bytes);
        const std::uint32_t crc32 = soft_errors::crc32(bytes);
        const std::byte difference{static_cast<unsigned char>(at % 255 + 1)};
        bytes[at] ^= difference;
        CHECK((crc32c ^ of_crc32c(difference, bytes.size() - 1 - at)) == soft_errors::crc32c_by_table(bytes));
        CHECK((crc32 ^ of_crc32(difference, bytes.size() - 1 - at)) == soft_errors::crc32(bytes));
    }
}

// A byte followed by 5 GiB of zeros, by zlib: crc32_combine(a, 0, n) is the checksum of a's data and n zeros, except
// for the zeros' own checksum.
TEST_CASE("the change is right over lengths that no memory holds")
{
    constexpr std::uint64_t behind = (std::uint64_t{5} << 30U) + 12'345;
    const unsigned char one = 0x5a;
    const unsigned char other = 0x00;
    const uLong with_one = ::crc32_combine(::crc32_z(0, &one, 1), 0, static_cast<z_off_t>(behind));
    const uLong with_other = ::crc32_combine(::crc32_z(0, &other, 1), 0, static_cast<z_off_t>(behind));
    const soft_errors::ChecksumChange change{soft_errors::ChecksumChange::Of::crc32};
    CHECK(change(std::byte{0x5a}, behind) == (with_one ^ with_other));
}
