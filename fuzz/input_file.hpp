// SPDX-License-Identifier: Apache-2.0
// Writes a fuzzer's bytes to a file, for parsers that take a path.
#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include <sys/mman.h>
#include <unistd.h>

namespace fuzz {

class InputFile {
 public:
    InputFile(const std::uint8_t* data, std::size_t size)
        : file_{base::check_errno(::memfd_create("input", MFD_CLOEXEC), "create a file in memory")}
    {
        const auto written = base::check_errno(::write(file_, data, size), "write a file in memory");
        if (static_cast<std::size_t>(written) != size) base::fail("no memory for the input");
    }
    ~InputFile() { ::close(file_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    std::filesystem::path path() const { return base::join("/proc/self/fd/", file_); }

 private:
    int file_;
};

}  // namespace fuzz
