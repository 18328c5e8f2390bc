// SPDX-License-Identifier: Apache-2.0
// A file that is read at offsets by any number of threads: through the page cache, leaving nothing in it, or past it.
#pragma once

#include "base/descriptor.hpp"
#include "ddl-workloads/data/records.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

namespace ddl {

class InputFile {
 public:
    // Throws std::system_error if it cannot be opened, Error for what is not a regular file, Unavailable if its file
    // system knows no O_DIRECT.
    explicit InputFile(std::filesystem::path path, Access access = Access::buffered);

    const std::filesystem::path& path() const { return path_; }
    std::int64_t bytes() const { return bytes_; }  // when it was opened

    // Fills `room` from byte `at` on; less, reported by the result, only where the file ends. Throws std::system_error.
    std::size_t read(std::int64_t at, std::span<std::uint8_t> room) const;

    // The same where all of it must be there. Throws CorruptRecord that says where the file ends and inside what.
    void read_whole(std::int64_t at, std::span<std::uint8_t> room, const std::string& inside) const;

    // False if it is not asked for, or is impossible because the file lives in memory (tmpfs).
    bool past_page_cache() const { return past_page_cache_; }

 private:
    std::size_t read_plainly(std::int64_t at, std::span<std::uint8_t> room) const;
    std::size_t read_direct(std::int64_t at, std::span<std::uint8_t> room) const;
    void drop(std::int64_t begin, std::int64_t end) const;

    std::filesystem::path path_;
    Access access_;
    std::int64_t bytes_ = 0;
    bool past_page_cache_ = false;
    base::Descriptor file_;
};

}  // namespace ddl
