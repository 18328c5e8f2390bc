// SPDX-License-Identifier: Apache-2.0
// Summary of a training, for people.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <ostream>

namespace ddl {

// `result` is that of Training::result(), of so many ranks, whose records are in `directory`.
void print(std::ostream& out, const nlohmann::ordered_json& result, int ranks, const std::filesystem::path& directory);

}  // namespace ddl
