// SPDX-License-Identifier: Apache-2.0
// Opens a text file, possibly compressed with gzip, as a stream.
#pragma once

#include <filesystem>
#include <istream>
#include <memory>

namespace convert {

// Throws Error if the file is not a regular file, cannot be opened, or is compressed but this program was built without
// zlib. Reading throws Error if the file is damaged or truncated, and after a signal has asked this program to stop.
std::unique_ptr<std::istream> open_plain_or_gzip(const std::filesystem::path& file);

}  // namespace convert
