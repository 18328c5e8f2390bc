// What every program that replays MPI does with its archive.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"
#include "trace-tools/replay/mpi_replay.hpp"

namespace otf2 {

// All events to the replay, to its end. Throws Error if they are not sound; what is odd about them goes to stderr, a
// line each, as `program`.
void replay_archive(Reader& reader, MpiReplay& replay, const char* program);

}  // namespace otf2
