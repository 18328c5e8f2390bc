// SPDX-License-Identifier: Apache-2.0
// How two stored states of the same training differ.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace soft_errors {

// Difference of one tensor; columns of difference.csv. `l2` is over numbers that are finite in both.
struct TensorDifference {
    std::string path;
    std::uint64_t elements = 0;
    std::uint64_t differing = 0;    // in any bit
    double l2 = 0.0;                // of the second minus the first
    double relative_l2 = 0.0;       // divided by the norm of the first, of its finite numbers; 0 where nothing differs
    double largest = 0.0;           // absolute
    std::uint64_t ulp_largest = 0;  // in steps between neighbouring numbers of the type; +0 and -0 are the same
    std::uint64_t not_finite = 0;   // of the second
};

struct Difference {
    std::vector<TensorDifference> tensors;
    std::map<std::string, std::vector<std::uint64_t>> flips;  // by type: of each bit from the left
    std::vector<std::string> left_out;                        // why, for tensors that cannot be compared
};

// Throws Error for what is no stored state.
Difference compare(const std::filesystem::path& first, const std::filesystem::path& second);

// DIR/difference.csv and DIR/bits.csv (`type,bit,flips`). Throws UsageError if they are there.
void write(const Difference& difference, const std::filesystem::path& directory);

}  // namespace soft_errors
