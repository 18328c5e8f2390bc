// Replays an archive and reports its problems: shared by trace-waits and trace-path.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/mpi_replay.hpp"

namespace replay {

// Reads all events and finishes the replay. Throws Error if they are not sound. Prints each oddity as a line on stderr
// that begins with `program`. With two threads or more one reads and one replays.
void replay_archive(otf2::Reader& reader, MpiReplay& replay, const char* program, int threads);

}  // namespace replay
