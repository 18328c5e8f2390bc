// SPDX-License-Identifier: Apache-2.0
#include "base/words.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <sstream>

namespace base {

std::string_view trim(std::string_view text)
{
    const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && space(text.front())) text.remove_prefix(1);
    while (!text.empty() && space(text.back())) text.remove_suffix(1);
    return text;
}

std::string lower_case(std::string_view text)
{
    std::string lower{text};
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
}

std::vector<std::string> split(std::string_view text, char separator)
{
    std::vector<std::string> parts;
    if (trim(text).empty()) return parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == separator && depth == 0)) {
            parts.emplace_back(trim(text.substr(begin, i - begin)));
            begin = i + 1;
        } else if (text[i] == '[' || text[i] == '(') {
            ++depth;
        } else if (text[i] == ']' || text[i] == ')') {
            --depth;
        }
    }
    return parts;
}

std::string wrapped(std::string_view text, std::size_t indent, std::size_t length)
{
    std::istringstream words{std::string{text}};
    const std::string margin(indent, ' ');
    std::string lines;
    std::string line;
    for (std::string word; words >> word;) {
        if (!line.empty() && indent + line.size() + 1 + word.size() > length) {
            lines += margin + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
    }
    return lines + margin + line + "\n";
}

namespace {

// Length in bytes of the UTF-8 character at the start of the text; 0 if it is invalid or must not be shown (C1
// controls).
std::size_t utf8_length(std::string_view text)
{
    const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const std::size_t length = byte(0) < 0xc2U   ? 0
                               : byte(0) < 0xe0U ? 2
                               : byte(0) < 0xf0U ? 3
                               : byte(0) < 0xf5U ? 4
                                                 : 0;
    if (length == 0 || text.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0U) != 0x80U) return 0;
    const bool overlong = (byte(0) == 0xe0U && byte(1) < 0xa0U) || (byte(0) == 0xf0U && byte(1) < 0x90U);
    const bool no_character = (byte(0) == 0xedU && byte(1) > 0x9fU) || (byte(0) == 0xf4U && byte(1) > 0x8fU);
    const bool control = byte(0) == 0xc2U && byte(1) < 0xa0U;
    // Line and paragraph separators (U+2028, U+2029), and marks that change the direction of the following text (U+202A
    // to U+202E, U+2066 to U+2069).
    const bool turns = byte(0) == 0xe2U && ((byte(1) == 0x80U && byte(2) >= 0xa8U && byte(2) <= 0xaeU) ||
                                            (byte(1) == 0x81U && byte(2) >= 0xa6U && byte(2) <= 0xa9U));
    return overlong || no_character || control || turns ? 0 : length;
}

std::string escaped(unsigned char c)
{
    constexpr std::string_view digits = "0123456789abcdef";
    if (c == '\n') return "\\n";
    if (c == '\t') return "\\t";
    return {'\\', 'x', digits[c >> 4U], digits[c & 0xfU]};
}

}  // namespace

std::string printable(std::string_view text)
{
    std::string shown;
    while (!text.empty()) {
        const auto c = static_cast<unsigned char>(text.front());
        const std::size_t length = c >= 0x20U && c < 0x7fU ? 1 : utf8_length(text);
        if (length == 0)
            shown += escaped(c);
        else
            shown += text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(1, length));
    }
    return shown;
}

std::string printable_lines(std::string_view text)
{
    std::string shown;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1))
        (shown += printable(text.substr(0, end))) += '\n';
    return shown + printable(text);
}

std::string shortened(std::string_view text, std::size_t most)
{
    constexpr std::string_view left_out = " ... ";
    if (text.size() <= most) return std::string{text};
    const auto inside_character = [&](std::size_t at) {
        return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
    };
    std::size_t begin = most * 2 / 3;
    while (begin > 0 && inside_character(begin)) --begin;
    std::size_t end = text.size() - (most - most * 2 / 3 - left_out.size());
    while (end < text.size() && inside_character(end)) ++end;
    return base::join(text.substr(0, begin), left_out, text.substr(end));
}

namespace {

// Does the name look like a secret's: "--api-key", "HF_TOKEN", "db.password"?
bool names_a_secret(std::string_view name)
{
    std::string lower = lower_case(name);
    std::replace_if(
        lower.begin(), lower.end(), [](char c) { return c == '-' || c == '.'; }, '_');
    std::string before;
    for (const std::string& part : split(lower, '_')) {
        for (const char* const secret :
             {"token", "password", "passwd", "passphrase", "secret", "credential", "credentials", "jwt", "apikey"})
            if (part == secret) return true;
        if (part == "key" && (before == "api" || before == "access" || before == "private" || before == "secret"))
            return true;
        before = part;
    }
    return false;
}

constexpr const char* hidden = "***";

// Replaces credentials in a word: https://USER:***@HOST, Authorization: ***, Bearer ***.
std::string without_credentials(std::string word)
{
    const auto hide = [&](std::size_t begin, std::size_t end) { word.replace(begin, end - begin, hidden); };
    if (const std::size_t scheme = word.find("://"); scheme != std::string::npos) {
        const std::size_t host = word.find('@', scheme);
        const std::size_t colon = word.find(':', scheme + 3);
        if (host < word.find('/', scheme + 3) && colon < host) hide(colon + 1, host);
    }
    for (const std::string_view before : {"Authorization:", "authorization:", "Bearer ", "bearer ", "Basic "})
        if (const std::size_t found = word.find(before); found != std::string::npos) {
            hide(found + before.size(), word.size());
            break;
        }
    return word;
}

}  // namespace

std::vector<std::string> without_secrets(std::vector<std::string> words)
{
    bool is_value = false;
    for (std::string& word : words) {
        const std::size_t sign = word.find('=');
        if (is_value && !word.starts_with('-'))
            word = hidden;
        else if (sign != std::string::npos && names_a_secret(std::string_view{word}.substr(0, sign)))
            word = word.substr(0, sign + 1) + hidden;
        else
            word = without_credentials(std::move(word));
        is_value = sign == std::string::npos && word.starts_with('-') && names_a_secret(word);
    }
    return words;
}

std::string join_words(std::span<const std::string> words, std::string_view separator)
{
    std::string text;
    for (const std::string& word : words) {
        if (!text.empty()) text += separator;
        text += word;
    }
    return text;
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1);  // the row before the previous one
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t changed = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({changed, last[j] + 1, row[j - 1] + 1});
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

std::string shell_word(const std::string& text)
{
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view{"-_./=:,+@%^"}.find(c) != std::string_view::npos;
    };
    if (!text.empty() && std::ranges::all_of(text, plain)) return text;
    std::string quoted = "'";
    for (const char c : text) {
        if (c == '\'')
            quoted += "'\\''";
        else
            quoted += c;
    }
    return quoted + "'";
}

std::string shell_words(std::span<const std::string> words)
{
    std::vector<std::string> quoted;
    for (const std::string& word : words) quoted.push_back(shell_word(word));
    return join_words(quoted, " ");
}

std::string nearest(std::string_view wrong, std::span<const std::string> known)
{
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(1, wrong.size() / 3) + 1;
    for (const std::string& word : known) {
        const std::size_t distance = edit_distance(wrong, word);
        if (distance < best_distance) {
            best_distance = distance;
            best = word;
        }
    }
    return best;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string> known)
{
    const std::string word = nearest(wrong, known);
    return word.empty() ? std::string{} : "; did you mean " + word + "?";
}

}  // namespace base
