// SPDX-License-Identifier: Apache-2.0
// A file that any number of threads read at offsets: through the page cache, without leaving pages in it, or bypassing
// it.
#pragma once

#include "base/descriptor.hpp"
#include "ddl-workloads/data/records.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

namespace ddl {

class InputFile {
 public:
    // Throws std::system_error if the file cannot be opened, Error if it is not a regular file, Unavailable if its file
    // system does not support O_DIRECT.
    explicit InputFile(std::filesystem::path path, Access access = Access::buffered);

    const std::filesystem::path& path() const { return path_; }
    std::int64_t bytes() const { return bytes_; }  // size when the file was opened

    // Reads from byte `at` into `room` and returns the number of bytes, which is less than requested only at the end of
    // the file. Throws std::system_error.
    std::size_t read(std::int64_t at, std::span<std::uint8_t> room) const;

    // Like read(), but all bytes must exist. Throws CorruptRecord with the end of the file and with `inside`, the thing
    // being read.
    void read_whole(std::int64_t at, std::span<std::uint8_t> room, const std::string& inside) const;

    // False if bypassing was not requested, or is impossible because the file is in memory (tmpfs).
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
