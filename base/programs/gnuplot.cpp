// SPDX-License-Identifier: Apache-2.0
#include "base/programs/gnuplot.hpp"

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/programs/child.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <iostream>
#include <optional>
#include <system_error>

namespace base {

namespace {

constexpr int not_found = 127;  // exit code of env if the program does not exist

// The text as a gnuplot string without markup. gnuplot escapes special characters for SVG, but not numbered entities
// and "]]>".
std::string quoted(const std::string& text)
{
    std::string plain;
    for (const char c : text) {
        if (c == '\'')
            plain += "''";
        else if ((c == '#' && plain.ends_with('&')) || (c == '>' && plain.ends_with("]]")))
            plain += std::string{' ', c};
        else
            plain += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return "'" + plain + "'";
}

std::string array(const std::string& name, const std::vector<std::string>& values)
{
    const std::size_t size = std::max<std::size_t>(values.size(), 1);
    return join("array ", name, "[", size, "] = [", join_words(values, ", "), "]\n");
}

}  // namespace

bool run_gnuplot(const std::string& program, const std::filesystem::path& folder, const std::string& name,
                 Nanoseconds patience)
{
    const std::string script = name + ".gp";
    const std::filesystem::path picture = folder / (name + ".svg");
    std::string why;
    std::error_code ignored;
    const Launch launch{.words = {"env", "LC_ALL=C.UTF-8", "gnuplot", script}, .folder = folder};
    const std::optional<int> code = Child{launch}.wait(patience);
    if (code == 0 && std::filesystem::exists(picture, ignored)) return true;
    if (!code)
        why = "gnuplot took longer than " + format(patience) + " on " + script;
    else if (*code == not_found)
        why = "gnuplot is not installed; " + script + " is ready for it";
    else
        why = "gnuplot failed on " + script;
    std::filesystem::remove(picture, ignored);  // an incomplete picture is useless
    std::cerr << program << ": no " << name << ".svg: " << why << "\n";
    return false;
}

void GnuplotVariables::set(const std::string& name, const std::vector<double>& values)
{
    std::vector<std::string> words;
    for (const double value : values) words.push_back(join(value));
    text_ << array(name, words);
}

void GnuplotVariables::set(const std::string& name, const std::vector<std::string>& texts)
{
    std::vector<std::string> words;
    for (const std::string& text : texts) words.push_back(quoted(text));
    text_ << array(name, words);
}

bool draw(const std::string& program, const std::filesystem::path& folder, const std::string& name,
          const GnuplotVariables& variables, std::string_view script)
{
    write_whole(folder / (name + ".gp"), join("# Made by ", program, "; run again with: gnuplot ", name, ".gp\n",
                                              variables.text(), "\n", script));
    return run_gnuplot(program, folder, name);
}

std::string gnuplot_tic(const std::string& text)
{
    std::string format;
    for (const char c : text) format += c == '%' ? "%%" : std::string{c};
    return format;
}

}  // namespace base
