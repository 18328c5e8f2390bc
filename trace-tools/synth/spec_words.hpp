// SPDX-License-Identifier: Apache-2.0
// Splits a statement of trace-synth into words, and parses the times among them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace synth {

struct TimeRange {
    std::int64_t least_ns = 0;
    std::int64_t most_ns = 0;
};

struct Words {
    std::string head;
    std::vector<std::string> plain;               // between head and settings
    std::map<std::string, std::string> settings;  // name=value
};

std::vector<std::string> words_of(std::string_view line);
Words parse_words(std::string_view line);

// Removes a setting and returns it; settings that remain at the end are unknown ones.
std::optional<std::string> take(Words& words, const std::string& name);
void end_of_settings(const Words& words);
std::string only_word(const Words& words, const char* what);

std::int64_t parse_signed_time(std::string_view text);  // negative for a clock that is ahead
TimeRange parse_range(std::string_view text);

}  // namespace synth
