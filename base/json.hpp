// JSON from files that anybody may have written.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string_view>

namespace base {

// Throws Error if the file cannot be read, is longer than 16 MiB, nested deeper than 64 levels or has an object of more
// than 10,000 members: to print or search such a value may take all stack or for ever. Throws nlohmann's parse_error
// for what is no JSON.
nlohmann::ordered_json read_json(const std::filesystem::path& file);

// The same of a text that came from `source`.
nlohmann::ordered_json parse_json(std::string_view text, std::string_view source);

}  // namespace base
