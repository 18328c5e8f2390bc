// SPDX-License-Identifier: Apache-2.0
// A program that runs in the background while a test goes through its cases.
#pragma once

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/programs/child.hpp"
#include "testing/testing.hpp"

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace testing {

class Child {
 public:
    explicit Child(const std::vector<std::string>& words)
        : child_{{.words = words, .output = scratch_ / "out", .errors = scratch_ / "out"}}
    {
    }

    pid_t pid() const { return child_.pid(); }
    void signal(int number) const { child_.signal(number); }

    // Waits for the program to end. Returns its exit code, or 128 + signal.
    int wait() { return child_.wait(); }

    std::string output() const { return base::read_whole(scratch_ / "out"); }

 private:
    Scratch scratch_;
    base::Child child_;
};

// Waits up to 30 s until the condition holds; returns whether it does.
inline bool eventually(const std::function<bool()>& holds)
{
    for (int tries = 0; tries < 3000; ++tries) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{10});
    }
    return false;
}

// True if the CSV that a program is writing already has this number of rows.
inline bool has_rows(const std::filesystem::path& csv, std::size_t rows)
try {
    return std::filesystem::exists(csv) && base::CsvTable{csv}.rows() >= rows;
} catch (const base::Error&) {  // the header is not yet written
    return false;
}

}  // namespace testing
