// SPDX-License-Identifier: Apache-2.0
// Chooses a name for an archive for which the user gave none.
#pragma once

#include <filesystem>
#include <string>

namespace otf2 {

// Returns a name such as "crosstalk-mpi.python3.4711": the program, and the Slurm job or the process id; with a further
// number if that directory, or unfinished() of it, already exists. Relative to the working directory.
std::filesystem::path fresh_directory(const std::string& program);

}  // namespace otf2
