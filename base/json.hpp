// SPDX-License-Identifier: Apache-2.0
// JSON from files that anybody may have written.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace base {

// Throws Error if the file cannot be read, is longer than 16 MiB, nested deeper than 64 levels or has an object of more
// than 10,000 members: to print or search such a value may take all stack or for ever. Throws nlohmann's parse_error
// for what is no JSON.
nlohmann::ordered_json read_json(const std::filesystem::path& file);

// The same of a text that came from `source`.
nlohmann::ordered_json parse_json(std::string_view text, std::string_view source);

// Is it UTF-8, as texts of JSON are?
bool is_utf8(const std::string& text);

// How a value is written: indented by two, or in one line. A path or an argument may be no UTF-8, which JSON cannot
// hold: such bytes become U+FFFD, for a record that lacks a letter is better than none.
constexpr int one_line = -1;
std::string json_text(const nlohmann::ordered_json& json, int indent = 2);
std::string json_text(const nlohmann::json& json, int indent = 2);

}  // namespace base
