// Reads the definitions of an archive, in whatever order they come, into an Archive with names in place of references.
#pragma once

#include "trace-tools/otf2/archive.hpp"
#include "trace-tools/otf2/references.hpp"

#include <otf2/otf2.h>

#include <filesystem>

namespace otf2 {

struct Definitions {
    Archive archive;
    ReferenceTable references;
};

// Throws Error if they are not all there.
Definitions read_global_definitions(OTF2_Reader* reader);

// Of all locations, into the reader (numberings, clock offsets) and, if given, the offsets into the archive too.
// Selects all locations. Throws Error for a definition file that is cut off; one that is missing where others are is a
// problem.
void read_local_definitions(OTF2_Reader* reader, const Archive& known, const ReferenceTable& references,
                            Archive* offsets);

}  // namespace otf2
