// SPDX-License-Identifier: Apache-2.0
// Reads the definitions of an archive, stored in any order, into an Archive in which names replace references.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/otf2/read/references.hpp"

#include <otf2/otf2.h>

#include <cstddef>
#include <vector>

namespace otf2 {

// Throws Error if definitions are missing.
Definitions read_global_definitions(OTF2_Reader* reader);

// Reads the local definitions (reference numbers, clock offsets) of locations first to last-1 into the reader and, if
// `offsets` is given, the clock offsets into that archive. Selects these locations. Local definitions are optional:
// returns the locations without any. Throws Error for a damaged definition file.
std::vector<std::size_t> read_local_definitions(OTF2_Reader* reader, const Archive& known,
                                                const ReferenceTable& references, std::size_t first, std::size_t last,
                                                Archive* offsets);

}  // namespace otf2
