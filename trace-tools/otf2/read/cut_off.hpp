// SPDX-License-Identifier: Apache-2.0
// Is a file of an archive there to its end? OTF2 does not ask: behind the end of a file that was cut off it reads on in
// what its memory held before, which may be the events of another location.
#pragma once

#include <cstdint>
#include <filesystem>

namespace otf2 {

enum class Records { definitions, events };

// Throws Error "F is cut off" unless the last chunk's records lead to an end mark. chunk_bytes: of all chunks but the
// last one, as the archive states it. Either byte order.
void refuse_if_cut_off(const std::filesystem::path& file, std::uint64_t chunk_bytes, Records records);

// Upper bound on the events of a file, from the number that its definitions state (some writers, APEX for one, leave it
// 0) and its size in bytes (0: unknown). OTF2 can loop for ever in a damaged event file.
std::uint64_t most_events(std::uint64_t defined, std::uint64_t bytes);

}  // namespace otf2
