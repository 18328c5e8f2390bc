// SPDX-License-Identifier: Apache-2.0
// Converts a file of recorded CUPTI activities to an OTF2 archive.
#pragma once

#include "trace-tools/gpu/recording/activity_recorder.hpp"

#include <filesystem>

namespace convert {

// The file has one JSON object per line, all from one process; see docs/formats.md. It may be compressed with gzip.
// Memory use does not depend on its size. Throws Error with a one-line message that names the faulty line, and leaves
// nothing behind.
gpu::ActivitySummary write_activities(const std::filesystem::path& file, const std::filesystem::path& directory);

}  // namespace convert
