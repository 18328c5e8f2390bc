// SPDX-License-Identifier: Apache-2.0
// An OTF2 archive as Chrome trace event JSON, which ui.perfetto.dev opens.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <filesystem>

namespace convert {

// Regions become slices, metrics counters, messages, collectives and launches of kernels arrows; times are from the
// archive's beginning. Memory does not grow with the events. Throws std::system_error or Error; a file that could not
// be written whole is left to the caller.
void write_chrome(otf2::Reader& reader, const std::filesystem::path& file);

}  // namespace convert
