// SPDX-License-Identifier: Apache-2.0
// A file without a name: gone when its last user is, however that ends.
#pragma once

#include "base/descriptor.hpp"

#include <cstdint>
#include <filesystem>

namespace noisegen {

class ScratchFile {
 public:
    // A file of `size` bytes, space reserved. Follows no symlink. Throws std::system_error.
    ScratchFile(const std::filesystem::path& directory, std::int64_t size);

    // Asks for transfers past the page cache; false if the file system refuses the flag or, with the flag, a transfer.
    bool bypass_cache();

    // Writes all of it once: reserved space that was never written is read as zeros without a look at the disk. Every
    // 4 KiB begin with their offset. Ends early when the program is asked to stop. Throws std::system_error.
    void fill();

    // Drops this part from the page cache, if it is on disk already: the next read comes from the disk.
    void drop(std::int64_t offset, std::int64_t bytes) const;

    int descriptor() const { return file_; }

 private:
    base::Descriptor file_;
    std::int64_t size_ = 0;
};

}  // namespace noisegen
