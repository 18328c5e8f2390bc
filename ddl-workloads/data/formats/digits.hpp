// SPDX-License-Identifier: Apache-2.0
// The 1797 handwritten digits of the UCI test set (Alpaydin, Kaynak 1998); see ddl-workloads/data/digits.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace ddl {

struct Digit {
    std::array<float, 64> ink = {};  // 8 x 8, row-major, 0 to 1
    std::uint8_t label = 0;          // 0 to 9
};

// Path of the file: $CROSSTALK_DIGITS, or the copy that comes with the programs, in the build tree or installed. Throws
// Unavailable with instructions to get it.
std::filesystem::path find_digits();

// Reads digits.csv.gz, or the same unpacked: one image a line, 64 values from 0 to 16, then the label. Throws Error,
// naming file and line, for anything else and for a number of images other than 1797.
std::vector<Digit> read_digits(const std::filesystem::path& file);

}  // namespace ddl
