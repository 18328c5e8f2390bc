// SPDX-License-Identifier: Apache-2.0
// The markers of an archive: points and spans of time that a tool such as trace-merge added to the events.
#pragma once

#include "trace-tools/otf2/archive.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace convert {

struct Marker {
    std::int64_t begin_ns = 0;
    std::int64_t length_ns = 0;
    std::string category;  // for example "unsafe noise"
    std::string text;
    std::uint32_t location = otf2::nowhere;  // index into Archive::locations; nowhere: no single location
};

// Markers in file order; empty if the archive has no marker file. Throws Error with a one-line message.
std::vector<Marker> read_markers(const std::filesystem::path& anchor, const otf2::Archive& archive);

}  // namespace convert
