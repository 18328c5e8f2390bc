// What a killed driver left behind: processes of its run, and the run's unfinished directory.
#pragma once

#include <filesystem>

namespace crosstalk {

// Ends the processes on this machine that were started for the run with this directory, and removes it. Throws Error if
// they do not end.
void clear_leftovers(const std::filesystem::path& partial);

}  // namespace crosstalk
