// SPDX-License-Identifier: Apache-2.0
// request.json: the options of a run, for its analysis and for extending it.
#pragma once

#include "crosstalk/run/request/request.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace crosstalk {

// Writes request.json to request.out. reading: options by which interference finds the steps ("--steps", "FILE", ..).
void write_request(const Request& request, const std::vector<std::string>& reading, bool reached_its_end);

// Reads the request of a run, without directories, length and exports. Throws Error if the run was not made by
// `crosstalk run`.
Request read_request(const std::filesystem::path& run);

// A seed that no run or part in that directory has.
std::uint64_t fresh_seed(const std::filesystem::path& directory);

// The first free name of DIR/part-2, DIR/part-3, .. or DIR/run-1, DIR/run-2, ..
std::filesystem::path next_in(const std::filesystem::path& directory, const std::string& stem, int first);

}  // namespace crosstalk
