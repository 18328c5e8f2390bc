// SPDX-License-Identifier: Apache-2.0
// anchor.xml, the part of a .cubex file that describes it: metrics, call paths, locations; no values.
#pragma once

#include "trace-tools/cube/cube.hpp"

#include <string>
#include <string_view>

namespace cube {

// Characters that cannot be in XML are written as printable() shows them.
std::string anchor_xml(const CubeProfile& profile);

struct Anchor {
    CubeProfile profile;             // of the metrics no values; locations in the order of their ids
    std::vector<std::string> types;  // of each metric's values as the file calls them: "UINT64"
    std::vector<std::string> ids;    // of each metric: its members in the file are "<id>.index" and "<id>.data"
};

// Throws Error, one clear line.
Anchor read_anchor_xml(std::string_view xml);

}  // namespace cube
