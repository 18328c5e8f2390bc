// SPDX-License-Identifier: Apache-2.0
// The status line of a run in progress: preliminary effects from `interference so-far`.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace crosstalk {

struct SoFar {
    std::string line;      // the line of `interference so-far`; empty if there is none yet
    bool decided = false;  // all verdicts are decided, as request.until_decided requires
};

// The command whose output read_so_far() reads.
std::vector<std::string> so_far_words(const Request& request);

// Returns an empty result if the file cannot be read, since that must not end the run.
SoFar read_so_far(const std::filesystem::path& answer);

}  // namespace crosstalk
