// SPDX-License-Identifier: Apache-2.0
// A directory for an archive that the user gave no name.
#pragma once

#include <filesystem>
#include <string>

namespace otf2 {

// "crosstalk-mpi.python3.4711": the program and the Slurm job, or this process; with a further number if it, or
// unfinished() of it, is there already. Relative to the working directory.
std::filesystem::path fresh_directory(const std::string& program);

}  // namespace otf2
