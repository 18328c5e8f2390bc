// SPDX-License-Identifier: Apache-2.0
// JSON from untrusted files.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace base {

// Throws Error if the file cannot be read, is longer than 16 MiB, is nested deeper than 64 levels, or has an object of
// more than 10,000 members: printing or searching such a value may exhaust the stack or take forever. Throws nlohmann's
// parse_error if the file is not JSON.
nlohmann::ordered_json read_json(const std::filesystem::path& file);

// Parses a text that came from `source`, with the same limits and errors.
nlohmann::ordered_json parse_json(std::string_view text, std::string_view source);

// Is the text UTF-8, as JSON requires?
bool is_utf8(const std::string& text);

// The value as text: indented by two, or in one line. A path or an argument may not be UTF-8, which JSON cannot hold.
// Its invalid bytes become U+FFFD, since a record without a letter is better than no record.
constexpr int one_line = -1;
std::string json_text(const nlohmann::ordered_json& json, int indent = 2);
std::string json_text(const nlohmann::json& json, int indent = 2);

}  // namespace base
