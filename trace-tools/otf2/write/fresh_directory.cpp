// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/otf2/write/fresh_directory.hpp"

#include "base/error.hpp"
#include "base/system/environment.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <system_error>

#include <unistd.h>

namespace otf2 {

std::filesystem::path fresh_directory(const std::string& program)
{
    namespace fs = std::filesystem;
    const std::string id = base::environment("SLURM_JOB_ID").value_or(std::to_string(::getpid()));
    const std::string name = base::join("crosstalk-mpi.", program, ".", id);
    fs::path directory = name;
    std::error_code ignored;
    for (int again = 1; fs::exists(directory, ignored) || fs::exists(unfinished(directory), ignored); ++again)
        directory = base::join(name, ".", again);
    return directory;
}

}  // namespace otf2
