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

// OTF2 may read on for ever in a damaged event file: more events than these are none, by how many are defined, which
// some writers (APEX) do not count, and by the bytes of the file, 0 if unknown.
std::uint64_t most_events(std::uint64_t defined, std::uint64_t bytes);

}  // namespace otf2
