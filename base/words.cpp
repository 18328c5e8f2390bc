#include "base/words.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace base {

std::string_view trim(std::string_view text)
{
    const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && space(text.front())) text.remove_prefix(1);
    while (!text.empty() && space(text.back())) text.remove_suffix(1);
    return text;
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
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({changed, above + 1, row[j - 1] + 1});
            diagonal = above;
        }
    }
    return row[b.size()];
}

}  // namespace

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
