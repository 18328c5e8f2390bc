// Which bits of which numbers flip, whatever record says so: ours, or the injection sequence of hdf5_corrupter
// (Rojas et al., IEEE CLUSTER 2021), {"path": [[indices], [bits]]}.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace base {

struct Injection {
    std::string path;                  // without a slash in front
    std::vector<std::uint64_t> index;  // one: row by row; several: one a dimension; none: to be drawn
    std::vector<int> bits;             // from the left
};

// Of theirs. Throws nlohmann's exceptions and Error for what is none.
std::vector<Injection> injections_of(const nlohmann::ordered_json& theirs);

// Of either. Throws Error that names the file; also for a record of --scale, which flips no bits.
std::vector<Injection> read_injections(const std::filesystem::path& record);

// "/a/b" is "a/b".
std::string without_leading_slash(const std::string& path);

}  // namespace base
