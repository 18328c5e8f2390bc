// SPDX-License-Identifier: Apache-2.0
// train/steps.csv for a run whose steps are only in its archive: the data needed to analyse the run without the
// archive.
#pragma once

#include <filesystem>

namespace crosstalk {

// Does request.json say which events of the archive are steps?
bool can_make_table(const std::filesystem::path& run);

// Writes steps.csv by trace-steps. Throws Error if it finds no steps.
void make_table(const std::filesystem::path& run);

}  // namespace crosstalk
