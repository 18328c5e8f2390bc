// SPDX-License-Identifier: Apache-2.0
// The directory of a run, which no other process writes into meanwhile.
#pragma once

#include "base/descriptor.hpp"
#include "crosstalk/run/request/request.hpp"

#include <filesystem>

namespace crosstalk {

// The first of crosstalk-1, crosstalk-2, .. that is free. Where another run looks for one at the same time, each has
// its own. Taken away again if nothing comes into it.
class FreeDirectory {
 public:
    FreeDirectory();  // throws Error where none can be made
    ~FreeDirectory();
    FreeDirectory(const FreeDirectory&) = delete;
    FreeDirectory& operator=(const FreeDirectory&) = delete;

    static std::filesystem::path seen();  // not made
    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

// Request::input of a job started here: the file that standard input is, "-" for a pipe, nothing for a
// terminal.
std::filesystem::path standard_input();

// Makes request.out with its log/, and returns the lock that the run holds while it writes there. Throws UsageError if
// a run is there already, or one is writing there, or it belongs to another user.
base::Descriptor claim_directory(const Request& request);

// Does a run write into that directory now?
bool is_being_written(const std::filesystem::path& run);

}  // namespace crosstalk
