// SPDX-License-Identifier: Apache-2.0
// Common parts of tests: skipping with a reason, a scratch directory, running a real program.
#pragma once

#include "base/random.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace testing {

// Skips the test case and prints the reason; the test program then exits 77. Return from the case after it.
void skip(const std::string& why);
bool skipped();

// True in nightly runs (CROSSTALK_NIGHTLY is set), in which table-driven cases try all rows.
bool at_night();

// A temporary directory that is removed at the end.
class Scratch {
 public:
    Scratch();
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

struct Outcome {
    int status = -1;  // exit code, or 128 + signal
    std::string out;
    std::string err{};
};

// Runs words[0] with its arguments and waits.
Outcome run(const std::vector<std::string>& words);

// Damages a file's content in one random place: flips a bit, changes a byte, changes, removes or doubles some bytes, or
// truncates it.
void mutate(std::string& bytes, base::Random& random);

}  // namespace testing
