// SPDX-License-Identifier: Apache-2.0
// Environment variables of the process, and silencing its stderr.
#pragma once

#include "base/descriptor.hpp"

#include <mutex>
#include <optional>
#include <string>

namespace base {

// The variable's value; none if it is not set or is empty.
std::optional<std::string> environment(const char* name);

// The variable's value as a number; none also if it is not a whole number.
std::optional<int> environment_number(const char* name);

// While an object of this class lives, all output of this process to stderr is discarded, from all threads. Use it
// around single calls of a library that prints (hwloc without /sys, components of PAPI). If such a call ends the
// process by exit(), the last line is printed after all. With stderr closed it does nothing.
class Silence {
 public:
    Silence();
    ~Silence();
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

 private:
    std::unique_lock<std::mutex> alone_;  // one at a time: a second would take the first's file for stderr
    Descriptor stderr_was_;
};

}  // namespace base
