// SPDX-License-Identifier: Apache-2.0
// Leftovers of an attempt or a killed driver: processes of its run, and the run's unfinished directory.
#pragma once

#include <filesystem>

namespace crosstalk {

// Ends the processes on this machine that were started for the run in this directory. Throws Error if they do not end.
void end_leftovers(const std::filesystem::path& partial);

// Calls end_leftovers() and removes the directory.
void clear_leftovers(const std::filesystem::path& partial);

}  // namespace crosstalk
