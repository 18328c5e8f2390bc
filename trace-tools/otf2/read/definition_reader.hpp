// SPDX-License-Identifier: Apache-2.0
// Reads the definitions of an archive, in any order, into an Archive with names in place of references.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/otf2/read/references.hpp"

#include <otf2/otf2.h>

#include <cstddef>
#include <vector>

namespace otf2 {

// Throws Error if they are not all there.
Definitions read_global_definitions(OTF2_Reader* reader);

// Reads definitions of the locations first to last-1 into the reader (numberings, clock offsets) and, if given, the
// offsets into the archive too. Selects these locations. Archives need not have any: returns the locations without.
// Throws Error for a definition file that is damaged.
std::vector<std::size_t> read_local_definitions(OTF2_Reader* reader, const Archive& known,
                                                const ReferenceTable& references, std::size_t first, std::size_t last,
                                                Archive* offsets);

}  // namespace otf2
