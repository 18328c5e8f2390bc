// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/run/sources/program_text.hpp"

#include "base/files.hpp"
#include "crosstalk/programs/programs.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include <unistd.h>

namespace crosstalk {

namespace fs = std::filesystem;

bool is_script(const std::string& word)
{
    return fs::path{word}.extension() == ".py";
}

std::string text_of(const std::string& word)
{
    constexpr std::uint64_t most_bytes = 64 << 20U;
    const std::optional<fs::path> file = is_script(word) ? fs::path{word} : found_on_path(word);
    std::error_code unknown;
    if (!file || !fs::is_regular_file(*file, unknown) || fs::file_size(*file, unknown) > most_bytes) return {};
    if (::access(file->c_str(), R_OK) != 0) return {};
    return base::read_whole(*file, most_bytes);
}

bool is_program(const std::string& text)
{
    return text.starts_with("\177ELF");
}

// Does not use std::regex, since scripts may have lines of any length.
bool imports_crosstalk(std::string_view text)
{
    constexpr std::string_view blanks = " \t";
    constexpr std::string_view in_names = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const auto takes = [&](std::string_view& line, std::string_view word) {
        if (!line.starts_with(word)) return false;
        line.remove_prefix(word.size());
        return line.empty() || in_names.find(line.front()) == std::string_view::npos;
    };
    const auto skip_blanks = [&](std::string_view& line) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    };
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        skip_blanks(line);
        if (!takes(line, "import") && !takes(line, "from")) continue;
        skip_blanks(line);
        if (takes(line, "crosstalk")) return true;
    }
    return false;
}

bool runs_module(const std::vector<std::string>& command, const std::string& name)
{
    for (auto word = command.begin(); word != command.end(); ++word)
        if (*word == "-m" && word + 1 != command.end() && *(word + 1) == name) return true;
    return false;
}

}  // namespace crosstalk
