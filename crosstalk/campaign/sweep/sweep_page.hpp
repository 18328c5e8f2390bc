// SPDX-License-Identifier: Apache-2.0
// The report of a sweep: history, parallel coordinates, importance of parameters, and a table of the best trials.
#pragma once

#include "crosstalk/campaign/sweep/sweep_spec.hpp"

#include <filesystem>
#include <string>

namespace crosstalk {

// Reads sweep.csv and importance.csv in the directory, and replaces its report/. `best`: the result in one line.
void write_sweep_page(const std::filesystem::path& directory, const SweepSpec& spec, const std::string& best);

}  // namespace crosstalk
