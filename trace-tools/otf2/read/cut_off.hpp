// SPDX-License-Identifier: Apache-2.0
// Detects truncated files of an archive. OTF2 does not: after the end of a truncated file it continues to read old
// contents of its memory, possibly events of another location.
#pragma once

#include <cstdint>
#include <filesystem>

namespace otf2 {

enum class Records { definitions, events };

// Throws Error "F is cut off" unless the records of the last chunk lead to an end mark. `chunk_bytes` is the size of
// all chunks but the last, as stated by the archive. Supports either byte order.
void refuse_if_cut_off(const std::filesystem::path& file, std::uint64_t chunk_bytes, Records records);

// Upper bound on the number of events in a file, from the number stated in its definitions (0 from some writers, such
// as APEX) and its size in bytes (0: unknown). Without a bound, OTF2 can loop for ever in a damaged event file.
std::uint64_t most_events(std::uint64_t defined, std::uint64_t bytes);

}  // namespace otf2
