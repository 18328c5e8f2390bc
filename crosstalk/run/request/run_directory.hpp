// SPDX-License-Identifier: Apache-2.0
// The directory of a run, which is locked against other processes.
#pragma once

#include "base/descriptor.hpp"
#include "crosstalk/run/request/request.hpp"

#include <filesystem>

namespace crosstalk {

// Creates the first free directory of crosstalk-1, crosstalk-2, ..; runs that do so at the same time get different
// ones. The destructor removes it if it is empty.
class FreeDirectory {
 public:
    FreeDirectory();  // throws Error if none can be created
    ~FreeDirectory();
    FreeDirectory(const FreeDirectory&) = delete;
    FreeDirectory& operator=(const FreeDirectory&) = delete;

    static std::filesystem::path seen();  // the name only; creates nothing
    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

// Request::input for a job started here: the path if stdin is a file, "-" for a pipe, empty for a terminal.
std::filesystem::path standard_input();

// Creates request.out with its log/, and returns the lock that the run holds while it writes there. Throws UsageError
// if there is a run already, if another run is writing there, or if the directory belongs to another user.
base::Descriptor claim_directory(const Request& request);

// Is a run writing into that directory now?
bool is_being_written(const std::filesystem::path& run);

}  // namespace crosstalk
