// SPDX-License-Identifier: Apache-2.0
// Archives of random MPI programs, written by Python's otf2 module together with the expected waits, and a check that
// the replay finds these waits.
#pragma once

#include <filesystem>
#include <string>

namespace testing {

// Writes DIRECTORY/SEED/traces.otf2 and truth.csv for `count` seeds, starting with `first`. If Python has no otf2
// module, skips the test and returns false.
bool write_random_archives(const std::filesystem::path& directory, int first, int count);

// Checks the replay on `count` seeds, starting with `first`. Returns one line per fault; skips the test if Python has
// no otf2 module.
std::string check_random_archives(int first, int count);

}  // namespace testing
