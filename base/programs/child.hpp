// SPDX-License-Identifier: Apache-2.0
// A program that this process starts and waits for.
#pragma once

#include "base/units.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace base {

struct Launch {
    std::vector<std::string> words;             // the program, looked up in PATH, and its arguments
    std::filesystem::path folder = {};          // working directory; empty: this process's
    std::filesystem::path output = {};          // file for its standard output, truncated; empty: this process's
    std::filesystem::path errors = {};          // the same for its standard error; may be the same file
    std::filesystem::path input = "/dev/null";  // file for its standard input; empty: this process's
};

class Child {
 public:
    // Throws std::system_error if the program cannot be started.
    explicit Child(const Launch& launch);

    // Kills the program unless wait() has returned its exit code.
    ~Child();
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    pid_t pid() const { return pid_; }  // 0 after the program was waited for
    void signal(int number) const;

    // Waits and returns the exit code, or 128 + signal.
    int wait();

    // Waits at most `patience`; returns none if the program still runs.
    std::optional<int> wait(Nanoseconds patience);

 private:
    pid_t pid_ = 0;
};

}  // namespace base
