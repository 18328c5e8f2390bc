// SPDX-License-Identifier: Apache-2.0
// Archives of random MPI programs, written by Python's otf2 module with what an analysis must find in them, and whether
// the replay finds it.
#pragma once

#include <filesystem>
#include <string>

namespace testing {

// DIRECTORY/SEED/traces.otf2 and its truth.csv for `count` seeds from `first` on. False, and a skip, where Python has
// no otf2.
bool write_random_archives(const std::filesystem::path& directory, int first, int count);

// Checks `count` seeds from `first` on. Returns faults, one per line; skips if otf2 is missing.
std::string check_random_archives(int first, int count);

}  // namespace testing
