// SPDX-License-Identifier: Apache-2.0
// Words that users type: splitting, trimming, and suggestions for misspelt words.
#pragma once

#include <ostream>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace base {

// Concatenates all parts as << writes them.
template <class... Parts>
std::string join(const Parts&... parts)
{
    std::ostringstream text;
    (text << ... << parts);
    return text.str();
}

std::string_view trim(std::string_view text);

// Converts A to Z to lower case; other bytes stay.
std::string lower_case(std::string_view text);

// "a, b,c" -> {"a", "b", "c"}; empty text gives no parts. Separators inside [] or () do not split.
std::vector<std::string> split(std::string_view text, char separator);

// Text wrapped to lines of at most `length` columns, each indented and ended by a newline. Longer words get a line of
// their own.
std::string wrapped(std::string_view text, std::size_t indent, std::size_t length);

// Text fit for one line of a terminal: control characters and invalid UTF-8 are written as \n or \x1b.
std::string printable(std::string_view text);

// The same for a text of several lines; line breaks stay.
std::string printable_lines(std::string_view text);

// Prints what `print` writes to a stream, made fit for a terminal: it may contain text from untrusted records.
template <class Print>
void print_lines(std::ostream& out, const Print& print)
{
    std::ostringstream text;
    print(text);
    out << printable_lines(text.str());
}

// Shortens a text longer than `most` bytes in the middle: "begin ... end". UTF-8 characters stay whole.
std::string shortened(std::string_view text, std::size_t most);

std::string join_words(std::span<const std::string> words, std::string_view separator);

// Words of a command line, with *** in place of values that look secret: values of options or variables with such names
// (--token VALUE, API_KEY=VALUE) and texts of such forms (https://USER:***@HOST, Authorization: ***, Bearer ***). For
// records that others read; other secrets are not recognised.
std::vector<std::string> without_secrets(std::vector<std::string> words);

// The word in shell syntax, quoted if needed.
std::string shell_word(const std::string& text);
std::string shell_words(std::span<const std::string> words);

// The known word nearest to the wrong one, or empty if none is near enough: Levenshtein distance, with two swapped
// neighbours counted as one, of at most a third of the word's length.
std::string nearest(std::string_view wrong, std::span<const std::string> known);

// "; did you mean memory.stream?" or "".
std::string did_you_mean(std::string_view wrong, std::span<const std::string> known);

}  // namespace base
