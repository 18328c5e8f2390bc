// A file without a name: gone when its last user is, however that ends.
#pragma once

#include <cstdint>
#include <filesystem>

namespace noisegen {

class ScratchFile {
 public:
    // Of `size` bytes, space reserved. Follows no symlink. Throws std::system_error.
    ScratchFile(const std::filesystem::path& directory, std::int64_t size);
    ~ScratchFile();
    ScratchFile(const ScratchFile&) = delete;
    ScratchFile& operator=(const ScratchFile&) = delete;

    // Asks for writes past the page cache; false if the file system refuses.
    bool bypass_cache();
    void through_cache();

    int descriptor() const { return file_; }

 private:
    int file_ = -1;
};

}  // namespace noisegen
