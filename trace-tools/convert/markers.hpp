// SPDX-License-Identifier: Apache-2.0
// The markers of an archive: moments and spans that a tool put beside its events, as trace-merge does.
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
    std::string category;  // "unsafe noise"
    std::string text;
    std::uint32_t location = otf2::nowhere;  // index into Archive::locations; nowhere: of no single one
};

// In the order of the file; none where the archive has no such file. Throws Error, one clear line.
std::vector<Marker> read_markers(const std::filesystem::path& anchor, const otf2::Archive& archive);

}  // namespace convert
