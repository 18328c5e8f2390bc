// SPDX-License-Identifier: Apache-2.0
// The environment of the process: its variables, and its stderr.
#pragma once

#include "base/descriptor.hpp"

#include <mutex>
#include <optional>
#include <string>

namespace base {

// None if it is not set, or empty.
std::optional<std::string> environment(const char* name);

// None also if it is not a whole number.
std::optional<int> environment_number(const char* name);

// While one lives, what this process prints to stderr is lost, for all its threads: put it around single calls of a
// library that prints (hwloc without /sys, components of PAPI). Only if that calls exit(), the last line is printed
// after all. Where stderr is closed it does nothing.
class Silence {
 public:
    Silence();
    ~Silence();
    Silence(const Silence&) = delete;
    Silence& operator=(const Silence&) = delete;

 private:
    std::unique_lock<std::mutex> alone_;  // a second one would take the first one's file for what stderr was
    Descriptor stderr_was_;
};

}  // namespace base
