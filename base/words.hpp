// Words that users type: splitting, trimming, and the right word for a wrong one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace base {

std::string_view trim(std::string_view text);

// "a, b,c" -> {"a", "b", "c"}; empty text gives no parts. Separators inside [] or () do not split.
std::vector<std::string> split(std::string_view text, char separator);

std::string join_words(std::span<const std::string> words, std::string_view separator);

// The known word nearest to the wrong one, or empty if none is near enough (Levenshtein distance <= a third of its
// length).
std::string nearest(std::string_view wrong, std::span<const std::string> known);

// "; did you mean memory.stream?" or "".
std::string did_you_mean(std::string_view wrong, std::span<const std::string> known);

}  // namespace base
