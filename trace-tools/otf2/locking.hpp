// Lets several threads use one OTF2 archive: their writers share its files and memory.
#pragma once

#include <otf2/otf2.h>

namespace otf2 {

void lock_with_mutexes(OTF2_Archive* archive);

}  // namespace otf2
