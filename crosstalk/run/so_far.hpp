// SPDX-License-Identifier: Apache-2.0
// The line on a run that continues: what interference so-far makes of its steps by now.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace crosstalk {

struct SoFar {
    std::string line;      // empty where there is none yet
    bool decided = false;  // all verdicts are, as request.until_decided asks
};

// The command; it prints what read_so_far() reads.
std::vector<std::string> so_far_words(const Request& request);

// An answer that cannot be read is none: it must not end the run.
SoFar read_so_far(const std::filesystem::path& answer);

}  // namespace crosstalk
