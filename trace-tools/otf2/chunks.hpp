// The memory events wait in before they go to the file: one chunk for each location, touched before the first event and
// used again after each flush. OTF2's own default keeps 128 chunks and then stops the program for as long as it takes
// to write them all (0.2 s for 128 MiB).
#pragma once

#include <otf2/otf2.h>

namespace otf2 {

void use_one_chunk_a_location(OTF2_Archive* archive);

}  // namespace otf2
