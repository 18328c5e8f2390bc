// A directory of its own, gone with it.
#pragma once

#include <filesystem>
#include <string>

namespace base {

class TemporaryDirectory {
 public:
    // In the directory for temporary files (TMPDIR), as NAME.XXXXXX. Throws std::system_error if it cannot be made.
    explicit TemporaryDirectory(const std::string& name);
    ~TemporaryDirectory();
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    const std::filesystem::path& path() const { return path_; }

 private:
    std::filesystem::path path_;
};

}  // namespace base
