// SPDX-License-Identifier: Apache-2.0
// .cubex files, which Cube and pycubexr read: a tar archive with anchor.xml and, for each metric, an index of its call
// paths and their values. Source of the format: Cube 4.6's writer and parser, pycubexr 2.1.
#pragma once

#include "trace-tools/cube/cube.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace cube {

// Gives the profile a single root first. The file appears only when complete. Throws std::system_error.
void write_cubex(const std::filesystem::path& file, CubeProfile profile);

// Reads files of any Cube 4: either byte order, compressed or not, with an index of some or of all rows. `metrics` are
// unique names: only their values are read; if empty, all are. Values are as in the file, so inclusive or exclusive
// according to the metric's kind. Throws Error with a one-line message.
CubeProfile read_cubex(const std::filesystem::path& file, const std::vector<std::string>& metrics = {});

}  // namespace cube
