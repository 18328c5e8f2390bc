// SPDX-License-Identifier: Apache-2.0
// Finds the HDF5 file inside of a .keras file, which is a zip archive (PKWARE's APPNOTE 6.3, without encryption).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace soft_errors {

struct ZipMember {
    std::string name;
    bool stored = false;             // true: uncompressed; false: deflated
    std::uint64_t at = 0;            // offset of its bytes in the archive
    std::uint64_t packed_bytes = 0;  // number of these bytes
    std::uint64_t bytes = 0;         // number of uncompressed bytes
    std::uint32_t crc32 = 0;
    std::uint64_t header = 0;             // offset of its local header
    std::uint64_t entry = 0;              // offset of its entry in the directory
    std::vector<std::uint64_t> crc32_at;  // offsets of its CRC-32
};

// All members of the archive. Throws Error with the file's name if the archive is damaged.
std::vector<ZipMember> zip_members(const std::filesystem::path& archive);

// Writes the archive to `copy` with this deflated member uncompressed; all other members are unchanged.
void copy_with_member_stored(const std::filesystem::path& archive, const ZipMember& member,
                             const std::filesystem::path& copy);

}  // namespace soft_errors
