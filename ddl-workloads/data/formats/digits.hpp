// SPDX-License-Identifier: Apache-2.0
// The 1797 handwritten digits of the UCI test set (Alpaydin, Kaynak 1998), see ddl-workloads/data/digits.
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

// $CROSSTALK_DIGITS (the file), or the one beside the programs, in the build tree or installed. Throws Unavailable that
// says how to get it.
std::filesystem::path find_digits();

// digits.csv.gz, or the same unpacked: one image a line, 64 values 0 to 16, then the label. Throws Error that names
// file and line for anything else, and for another number of images than 1797.
std::vector<Digit> read_digits(const std::filesystem::path& file);

}  // namespace ddl
