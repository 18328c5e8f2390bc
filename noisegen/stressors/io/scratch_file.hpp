// SPDX-License-Identifier: Apache-2.0
// A file without a name, which is gone when the last process that has it open ends, however it ends.
#pragma once

#include "base/descriptor.hpp"

#include <cstdint>
#include <filesystem>

namespace noisegen {

class ScratchFile {
 public:
    // Makes a file of `size` bytes with its space reserved. Follows no symlink. Throws std::system_error.
    ScratchFile(const std::filesystem::path& directory, std::int64_t size);

    // Requests transfers that bypass the page cache; returns false if the file system refuses the flag, or a transfer
    // with the flag.
    bool bypass_cache();

    // Writes the whole file once: reserved space that was never written would be read as zeros without any disk access.
    // Each 4 KiB begin with their offset. Stops early if the program is asked to stop. Throws std::system_error.
    void fill();

    // Drops this range from the page cache if it has been written to disk, so that the next read comes from the disk.
    void drop(std::int64_t offset, std::int64_t bytes) const;

    int descriptor() const { return file_; }

 private:
    base::Descriptor file_;
    std::int64_t size_ = 0;
};

}  // namespace noisegen
