// SPDX-License-Identifier: Apache-2.0
// A file or directory that appears by rename, once it is whole.
#pragma once

#include <filesystem>

namespace soft_errors {

class NewCopy {
 public:
    // Nothing is there yet. Throws UsageError if the name is taken.
    explicit NewCopy(std::filesystem::path wanted);
    ~NewCopy();
    NewCopy(const NewCopy&) = delete;
    NewCopy& operator=(const NewCopy&) = delete;

    // Where it is until finish().
    const std::filesystem::path& path() const { return beside_; }

    // A copy of the file, or of the directory's files. As fast as the file system can: shared blocks, or in the kernel.
    void fill(const std::filesystem::path& from) const;
    void finish();

 private:
    std::filesystem::path wanted_;
    std::filesystem::path beside_;
};

}  // namespace soft_errors
