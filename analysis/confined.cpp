#include "analysis/confined.hpp"

#include <algorithm>

#include <sys/stat.h>

namespace analysis {

namespace {

// On the disk: what was never written holds no event.
std::uint64_t bytes_of_events(std::filesystem::path anchor)
{
    std::uint64_t bytes = 0;
    std::error_code missing;
    for (const auto& file : std::filesystem::directory_iterator{anchor.replace_extension(), missing}) {
        struct stat found {};
        if (file.path().extension() == ".evt" && ::stat(file.path().c_str(), &found) == 0)
            bytes += static_cast<std::uint64_t>(found.st_blocks) * 512;
    }
    return bytes;
}

}  // namespace

otf2::Limits limits_for(std::span<const std::filesystem::path> archives)
{
    constexpr std::uint64_t kept_bytes_a_byte = 8;  // of the smallest step, slot or exchange
    otf2::Limits limits;
    std::uint64_t kept = 0;
    for (const std::filesystem::path& archive : archives) {
        limits.memory_bytes = std::max(limits.memory_bytes, otf2::limits_for(archive).memory_bytes);
        kept += kept_bytes_a_byte * bytes_of_events(archive);
    }
    limits.memory_bytes += kept;
    return limits;
}

}  // namespace analysis
