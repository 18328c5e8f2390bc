// SPDX-License-Identifier: Apache-2.0
// Summary of a training, for human readers.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <ostream>

namespace ddl {

// `result` comes from Training::result(), `ranks` is the number of ranks, and `directory` holds their records.
void print(std::ostream& out, const nlohmann::ordered_json& result, int ranks, const std::filesystem::path& directory);

}  // namespace ddl
