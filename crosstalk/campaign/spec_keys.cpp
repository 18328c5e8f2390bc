// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/spec_keys.hpp"

#include "base/files.hpp"
#include "crosstalk/programs/programs.hpp"

#include <algorithm>

namespace crosstalk {

std::vector<std::string> lines_of_spec(const std::filesystem::path& file)
{
    return lines_of(base::read_whole(file, longest_spec));
}

std::pair<std::string, std::string> setting_in(const std::string& line)
{
    const std::string setting = line.substr(0, line.find('#'));
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) return {};
    return {std::string{base::trim(setting.substr(0, equals))}, std::string{base::trim(setting.substr(equals + 1))}};
}

std::set<std::string> read_settings(
    const std::filesystem::path& file, const std::vector<std::string>& names,
    const std::function<void(std::size_t, const std::string& word, const std::string& value)>& take)
{
    std::set<std::string> given;
    const auto read = [&](const std::string& line) {
        const std::string_view text = base::trim(std::string_view{line}.substr(0, line.find('#')));
        if (text.empty()) return;
        const auto [name, value] = setting_in(line);
        if (text.find('=') == std::string_view::npos) base::fail_usage("'", text, "' is not NAME = VALUE");
        const std::size_t space = name.find(' ');
        const std::string word = space == std::string::npos ? "" : std::string{base::trim(name.substr(space))};
        const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& one) {
            return word.empty() ? one == name : one.find(' ') == space && one.starts_with(name.substr(0, space));
        });
        if (found == names.end())
            base::fail_usage("no key '", name, "'", base::did_you_mean(name, names),
                             " (crosstalk campaign plan --help shows all)");
        if (!given.insert(name).second) base::fail_usage(name, " is given twice");
        try {
            take(static_cast<std::size_t>(found - names.begin()), word, value);
        } catch (const base::UsageError& error) {
            base::fail_usage(name, ": ", error.what());
        }
    };
    std::size_t number = 0;
    try {
        for (const std::string& line : lines_of_spec(file)) {
            ++number;
            read(line);
        }
    } catch (const base::UsageError& error) {
        base::fail_usage(file.string(), " line ", number, ": ", error.what());
    }
    return given;
}

}  // namespace crosstalk
