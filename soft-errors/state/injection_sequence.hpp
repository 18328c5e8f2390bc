// SPDX-License-Identifier: Apache-2.0
// The bits and numbers that a record flips. The record is ours, or an injection sequence of hdf5_corrupter (Rojas et
// al., IEEE CLUSTER 2021), {"path": [[index, bits], ..]}, such as {"fc/weight": [[[1, 4], [17]]]}.
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
    std::string path;                  // without a leading slash
    std::vector<std::uint64_t> index;  // one value: row by row; several: one for each dimension; none: to be drawn
    std::vector<int> bits;             // bits to flip, counted from the left
};

// Index row by row in a tensor of this shape. Throws Error, with the tensor's name, if the tensor has another number of
// axes, or no such number.
std::uint64_t index_in(const Injection& one, std::span<const std::uint64_t> shape, const std::string& tensor);

// The flipped bits in a number of the tensor. Throws Error if the type has fewer bits.
std::uint64_t flipped_bits(const Injection& one, const NumberFormat& format, const std::string& tensor);

// Injections in JSON of hdf5_corrupter. Throws nlohmann's exceptions, and Error for other JSON.
std::vector<Injection> injections_of(const nlohmann::ordered_json& theirs);

// Injections in a file of either kind. Throws Error with the file's name, also for a record of --scale, which flips no
// bits.
std::vector<Injection> read_injections(const std::filesystem::path& record);

// Turns "/a/b" into "a/b".
inline std::string without_leading_slash(const std::string& path)
{
    return path.substr(std::min(path.find_first_not_of('/'), path.size()));
}

}  // namespace soft_errors
