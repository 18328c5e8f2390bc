// SPDX-License-Identifier: Apache-2.0
// A text file that may be compressed with gzip, as a stream.
#pragma once

#include <filesystem>
#include <istream>
#include <memory>

namespace convert {

// Reading throws Error where the file is damaged or cut off, and once a signal has asked this program to stop. Throws
// Error for what is not a regular file, cannot be opened, or is compressed while this was built without zlib.
std::unique_ptr<std::istream> open_plain_or_gzip(const std::filesystem::path& file);

}  // namespace convert
