// SPDX-License-Identifier: Apache-2.0
// request.json: how a run was asked for, for the analysis and for more of the same.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace crosstalk {

// Into request.out. reading: options of interference that say where the steps are, and without which the analysis would
// not find them ("--steps", "FILE", ..).
void write_request(const Request& request, const std::vector<std::string>& reading);

// The request of a run, without the directories, the length and the results. Throws Error where `crosstalk run` did not
// make the run.
Request read_request(const std::filesystem::path& run);

// One that no run or part in that directory had.
std::uint64_t fresh_seed(const std::filesystem::path& directory);

// DIR/part-2, or DIR/run-4: the first number that is free.
std::filesystem::path next_in(const std::filesystem::path& directory, const std::string& stem, int first);

}  // namespace crosstalk
