// SPDX-License-Identifier: Apache-2.0
// Words that users type: splitting, trimming, and the right word for a wrong one.
#pragma once

#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// All parts as << writes them.
template <class... Parts>
std::string join(const Parts&... parts)
{
    std::ostringstream text;
    (text << ... << parts);
    return text.str();
}

std::string_view trim(std::string_view text);

// A to Z as small letters; other bytes stay.
std::string lower_case(std::string_view text);

// "a, b,c" -> {"a", "b", "c"}; empty text gives no parts. Separators inside [] or () do not split.
std::vector<std::string> split(std::string_view text, char separator);

// Lines of at most `length` columns, each indented, the last ended too. Words that are longer stand alone.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t length);

// Text fit for one line of a terminal: control characters and bytes that are no UTF-8 as \n or \x1b.
std::string printable(std::string_view text);

// The same for a text of several lines, which stay lines.
std::string printable_lines(std::string_view text);

// Prints for a terminal what `print` writes to a stream: texts of foreign records may be among it.
template <class Print>
void print_lines(std::ostream& out, const Print& print)
{
    std::ostringstream text;
    print(text);
    out << printable_lines(text.str());
}

// A text that is longer than `most` bytes without its middle: "begin ... end". Characters stay whole.
std::string shortened(std::string_view text, std::size_t most);

std::string join_words(std::span<const std::string> words, std::string_view separator);

// Words of a command line with *** for the value of each option or variable whose name says that it is a secret:
// --token VALUE, API_KEY=VALUE; and of what its form says: https://USER:***@HOST, Authorization: ***, Bearer ***. For
// records that others read; what neither says stays.
std::vector<std::string> without_secrets(std::vector<std::string> words);

// A word for a shell, in quotes if it needs them.
std::string shell_word(const std::string& text);
std::string shell_words(std::span<const std::string> words);

// The known word nearest to the wrong one, or empty if none is near enough (Levenshtein distance, two neighbours
// in the wrong order counting as one, <= a third of its length).
std::string nearest(std::string_view wrong, std::span<const std::string> known);

// "; did you mean memory.stream?" or "".
std::string did_you_mean(std::string_view wrong, std::span<const std::string> known);

}  // namespace base
