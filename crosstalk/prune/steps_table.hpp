// SPDX-License-Identifier: Apache-2.0
// train/steps.csv of a run whose steps stand in its archive alone: all that is needed to analyse it without that.
#pragma once

#include <filesystem>

namespace crosstalk {

// Does request.json say which events of the archive are steps?
bool can_make_table(const std::filesystem::path& run);

// Writes steps.csv by trace-steps. Throws Error where that finds no steps.
void make_table(const std::filesystem::path& run);

}  // namespace crosstalk
