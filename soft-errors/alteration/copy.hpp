// SPDX-License-Identifier: Apache-2.0
// A new file or directory that is written under a temporary name and renamed once it is complete.
#pragma once

#include <filesystem>

namespace soft_errors {

class NewCopy {
 public:
    // Creates nothing yet. Throws UsageError if the name is taken.
    explicit NewCopy(std::filesystem::path wanted);
    ~NewCopy();
    NewCopy(const NewCopy&) = delete;
    NewCopy& operator=(const NewCopy&) = delete;

    // The copy's path until finish(), which renames it.
    const std::filesystem::path& path() const { return beside_; }

    // Copies the file, or the directory's files, as fast as the file system allows: by shared blocks, or in the kernel.
    void fill(const std::filesystem::path& from) const;
    void finish();

 private:
    std::filesystem::path wanted_;
    std::filesystem::path beside_;
};

}  // namespace soft_errors
