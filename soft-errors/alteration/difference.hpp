// SPDX-License-Identifier: Apache-2.0
// Compares two stored states of the same training.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace soft_errors {

// Difference of one tensor; columns of difference.csv. `l2` is over the numbers that are finite in both states.
struct TensorDifference {
    std::string path;
    std::uint64_t elements = 0;
    std::uint64_t differing = 0;    // numbers that differ in any bit
    double l2 = 0.0;                // norm of the second minus the first
    double relative_l2 = 0.0;       // l2 divided by the norm of the first's finite numbers; 0 where nothing differs
    double largest = 0.0;           // largest absolute difference
    std::uint64_t ulp_largest = 0;  // in steps between neighbouring numbers of the type; +0 and -0 are equal
    std::uint64_t not_finite = 0;   // numbers of the second state
};

struct Difference {
    std::vector<TensorDifference> tensors;
    std::map<std::string, std::vector<std::uint64_t>> flips;  // by type: [bit from the left], number of flips
    std::vector<std::string> left_out;                        // reasons, for tensors that cannot be compared
};

// Compares the two. Throws Error if one is not a stored state.
Difference compare(const std::filesystem::path& first, const std::filesystem::path& second);

// Writes DIR/difference.csv and DIR/bits.csv (`type,bit,flips`). Throws UsageError if they exist.
void write(const Difference& difference, const std::filesystem::path& directory);

}  // namespace soft_errors
