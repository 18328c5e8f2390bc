// Archives may come from anywhere, and OTF2's library trusts what it reads.
#pragma once

#include "trace-tools/otf2/reader.hpp"

#include <filesystem>

namespace analysis {

// Reads the archive once in a child process with limits, and keeps nothing of it. Throws Error, one clear line, if that
// crashed, hung or took all memory, as it would then do here. What is wrong with an archive in a way that can be told
// is left for who reads it next to tell.
void try_reading(const std::filesystem::path& archive, otf2::ReadOptions options);

}  // namespace analysis
