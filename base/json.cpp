// SPDX-License-Identifier: Apache-2.0
#include "base/json.hpp"

#include "base/error.hpp"
#include "base/files.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace base {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_bytes = std::size_t{16} << 20U;
constexpr std::size_t most_levels = 64;
constexpr std::size_t most_members = 10'000;  // ordered_json compares each new name with all earlier names

}  // namespace

Json parse_json(std::string_view text, std::string_view source)
{
    std::vector<std::size_t> members(most_levels + 1);  // number of members of the open object on each level
    const auto within_bounds = [&](int depth, Json::parse_event_t event, const Json&) {
        const auto level = static_cast<std::size_t>(depth);
        const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
        if (opens && level >= most_levels) fail(source, " is nested deeper than ", most_levels, " levels");
        if (opens) members[level + 1] = 0;
        if (event == Json::parse_event_t::key && ++members[level] > most_members)
            fail(source, " has an object of more than ", most_members, " members");
        return true;
    };
    return Json::parse(text, within_bounds);
}

bool is_utf8(const std::string& text)
try {
    static_cast<void>(Json(text).dump());
    return true;
} catch (const Json::type_error&) {
    return false;
}

std::string json_text(const Json& json, int indent)
{
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

std::string json_text(const nlohmann::json& json, int indent)
{
    return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

Json read_json(const std::filesystem::path& file)
{
    return parse_json(read_whole(file, most_bytes), file.string());
}

}  // namespace base
