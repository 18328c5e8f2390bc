// SPDX-License-Identifier: Apache-2.0
// Converts an OTF2 archive to Chrome trace event JSON, which ui.perfetto.dev opens.
#pragma once

#include "trace-tools/otf2/read/reader.hpp"

#include <filesystem>

namespace convert {

// Regions become slices; metrics become counters; messages, collectives and kernel launches become arrows. Times are
// relative to the archive's start. Memory does not grow with the number of events. Throws std::system_error or Error;
// the caller removes an incomplete file.
void write_chrome(otf2::Reader& reader, const std::filesystem::path& file);

}  // namespace convert
