// SPDX-License-Identifier: Apache-2.0
// .cubex files, which Cube and pycubexr read: a tar of anchor.xml and, for each metric, an index of its call paths and
// their values. Source of the format: Cube 4.6's writer and parser, pycubexr 2.1.
#pragma once

#include "trace-tools/cube/cube.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cube {

// Gives the profile one root first. The file appears as a whole. Throws std::system_error.
void write_cubex(const std::filesystem::path& file, CubeProfile profile);

// Reads any Cube 4: either byte order, compressed or not, with an index of some rows or with all. `metrics` by unique
// names: only their values are read; if there are none given, all are. Values are as the file has them, so call paths
// of a metric are inclusive or exclusive as its kind says. Throws Error, one clear line.
CubeProfile read_cubex(const std::filesystem::path& file, const std::vector<std::string>& metrics = {});

}  // namespace cube
