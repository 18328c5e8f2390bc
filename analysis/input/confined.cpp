// SPDX-License-Identifier: Apache-2.0
#include "analysis/input/confined.hpp"

#include <algorithm>

#include <sys/stat.h>

namespace analysis {

namespace {

// Size of a file on disk: holes, which hold no event and no row, do not count.
std::uint64_t bytes_on_disk(const std::filesystem::path& file)
{
    struct stat found {};
    return ::stat(file.c_str(), &found) == 0 ? static_cast<std::uint64_t>(found.st_blocks) * 512 : 0;
}

std::uint64_t bytes_of_events(std::filesystem::path anchor)
{
    std::uint64_t bytes = 0;
    std::error_code failed;
    for (std::filesystem::directory_iterator file{anchor.replace_extension(), failed}, end; !failed && file != end;
         file.increment(failed))
        if (file->path().extension() == ".evt") bytes += bytes_on_disk(file->path());
    return bytes;
}

}  // namespace

otf2::Limits limits_for(std::span<const std::filesystem::path> archives)
{
    constexpr std::uint64_t kept_bytes_a_byte = 32;   // for the smallest step, slot or exchange
    constexpr std::uint64_t table_bytes_a_byte = 40;  // each cell of a table is a string
    constexpr double table_bytes_a_second = 1e6;      // a table is parsed as a whole first
    otf2::Limits limits;
    std::uint64_t kept = 0;
    for (const std::filesystem::path& archive : archives) {
        if (archive.extension() == ".csv") {
            const std::uint64_t bytes = bytes_on_disk(archive);
            kept += table_bytes_a_byte * bytes;
            limits.stuck_s = std::max(limits.stuck_s, static_cast<double>(bytes) / table_bytes_a_second);
            continue;
        }
        limits.memory_bytes = std::max(limits.memory_bytes, otf2::limits_for(archive).memory_bytes);
        kept += kept_bytes_a_byte * bytes_of_events(archive);
    }
    limits.memory_bytes += kept;
    return limits;
}

}  // namespace analysis
