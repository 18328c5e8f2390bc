// SPDX-License-Identifier: Apache-2.0
// The HDF5 file inside of a .keras file, which is a zip archive (PKWARE's APPNOTE 6.3, without encryption).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace soft_errors {

struct ZipMember {
    std::string name;
    bool stored = false;             // as it is; else deflated
    std::uint64_t at = 0;            // of its bytes in the archive
    std::uint64_t packed_bytes = 0;  // there
    std::uint64_t bytes = 0;         // unpacked
    std::uint32_t crc32 = 0;
    std::uint64_t header = 0;             // where its local header stands
    std::uint64_t entry = 0;              // where its entry of the directory stands
    std::vector<std::uint64_t> crc32_at;  // where its CRC-32 stands
};

// All of the archive's members. Throws Error that names the file for what is no sound archive.
std::vector<ZipMember> zip_members(const std::filesystem::path& archive);

// Writes the archive to `copy` with this deflated member stored; all other bytes are as they were.
void copy_with_member_stored(const std::filesystem::path& archive, const ZipMember& member,
                             const std::filesystem::path& copy);

}  // namespace soft_errors
