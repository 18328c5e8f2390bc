// SPDX-License-Identifier: Apache-2.0
// A file that appears under its name only when finish() renames it, complete and written to the device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace ddl {

class OutputFile {
 public:
    explicit OutputFile(std::filesystem::path path);
    ~OutputFile();  // without finish(), the file is removed
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;

    const std::filesystem::path& path() const { return path_; }
    // Both throw std::system_error (a full disk, for example).
    void write(std::span<const std::uint8_t> bytes);
    void finish(std::span<const std::uint8_t> header = {});  // `header` replaces the first bytes

 private:
    void flush();

    std::filesystem::path path_;
    std::filesystem::path unfinished_;
    std::vector<std::uint8_t> buffer_;
    int file_ = -1;
};

}  // namespace ddl
