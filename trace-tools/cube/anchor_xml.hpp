// SPDX-License-Identifier: Apache-2.0
// anchor.xml, the part of a .cubex file that describes metrics, call paths and locations, without values.
#pragma once

#include "trace-tools/cube/cube.hpp"

#include <string>
#include <string_view>

namespace cube {

// Characters that XML does not allow are written as printable() shows them.
std::string anchor_xml(const CubeProfile& profile);

struct Anchor {
    CubeProfile profile;             // metrics without values; locations ordered by id
    std::vector<std::string> types;  // type of each metric's values as named in the file, such as "UINT64"
    std::vector<std::string> ids;    // id of each metric; its members in the file are "<id>.index" and "<id>.data"
};

// Throws Error with a one-line message.
Anchor read_anchor_xml(std::string_view xml);

}  // namespace cube
