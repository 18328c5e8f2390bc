// SPDX-License-Identifier: Apache-2.0
// Which bits of which numbers flip, whatever record says so: ours, or the injection sequence of hdf5_corrupter
// (Rojas et al., IEEE CLUSTER 2021), {"path": [[index, bits], ..]}, such as {"fc/weight": [[[1, 4], [17]]]}.
#pragma once

#include "soft-errors/state/number_format.hpp"

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace soft_errors {

struct Injection {
    std::string path;                  // without a slash in front
    std::vector<std::uint64_t> index;  // one: row by row; several: one a dimension; none: to be drawn
    std::vector<int> bits;             // from the left
};

// Its number row by row in a tensor of this shape. Throws Error, which names the tensor, if it has not as many axes, or
// no such number along one.
std::uint64_t index_in(const Injection& one, std::span<const std::uint64_t> shape, const std::string& tensor);

// Its bits in a number of the tensor. Throws Error if the type has not as many.
std::uint64_t flipped_bits(const Injection& one, const NumberFormat& format, const std::string& tensor);

// Injections of hdf5_corrupter's JSON. Throws nlohmann's exceptions and Error for what is none.
std::vector<Injection> injections_of(const nlohmann::ordered_json& theirs);

// Injections of either file. Throws Error that names the file; also for a record of --scale, which flips no bits.
std::vector<Injection> read_injections(const std::filesystem::path& record);

// "/a/b" is "a/b".
inline std::string without_leading_slash(const std::string& path)
{
    return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

}  // namespace soft_errors
