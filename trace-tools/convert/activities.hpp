// SPDX-License-Identifier: Apache-2.0
// An OTF2 archive of a file of what CUPTI recorded.
#pragma once

#include "trace-tools/gpu/recording/activity_recorder.hpp"

#include <filesystem>

namespace convert {

// A JSON object a line, of one process; docs/formats.md has its members. The file may be compressed with gzip. Memory
// does not grow with it. Throws Error, one clear line that says which line of the file is wrong, and leaves nothing.
gpu::ActivitySummary write_activities(const std::filesystem::path& file, const std::filesystem::path& directory);

}  // namespace convert
