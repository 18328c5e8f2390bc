// Checksums: those of the standards, however they are computed.
#include "ddl-workloads/data/checksums.hpp"

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
    CHECK(ddl::crc32c(std::as_bytes(std::span{digits})) == 0xe3069283);
    const std::vector<std::byte> bytes = some_bytes();
    for (const std::size_t size : {0, 1, 7, 8, 9, 1023, 4096, 20'000}) {
        const std::span<const std::byte> some = std::span{bytes}.first(size);
        CHECK(ddl::crc32c(some) == ddl::crc32c_by_table(some));
    }
}

TEST_CASE("CRC-32 is zlib's")
{
    CHECK(ddl::crc32(std::as_bytes(std::span{digits})) == 0xcbf43926);
    const std::vector<std::byte> bytes = some_bytes();
    for (const std::size_t size : {0, 1, 15, 3073, 20'000})
        CHECK(ddl::crc32(std::span{bytes}.first(size)) ==
              ::crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), size));
}
