// SPDX-License-Identifier: Apache-2.0
// Finds the checkpoint that --resume refers to.
#pragma once

#include "base/descriptor.hpp"

#include <filesystem>

namespace ddl {

// Marks DIR/train as used by a living process, until the object is destroyed or the process is killed.
class PartInUse {
 public:
    // Throws UsageError if another process has marked it.
    explicit PartInUse(const std::filesystem::path& part);

 private:
    base::Descriptor directory_;
};

// The newest sound checkpoint of a run (DIR) or in the folder DIR, or DIR itself if it is a checkpoint. Throws Error if
// there is none.
std::filesystem::path newest_of(const std::filesystem::path& directory);

// Moves DIR/train, if it exists, to DIR/train.1 (or the next free number), and returns the newest sound checkpoint of
// all such parts. Empty if no checkpoint was ever written; throws Error if all are damaged, UsageError if the part is
// in use.
std::filesystem::path newest_of_parts(const std::filesystem::path& run);

}  // namespace ddl
