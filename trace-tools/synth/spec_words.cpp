// SPDX-License-Identifier: Apache-2.0
#include "trace-tools/synth/spec_words.hpp"

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <utility>

namespace synth {

namespace {

void set(Words& words, const std::string& name, std::string value)
{
    if (!words.settings.emplace(name, std::move(value)).second) base::fail(name, "= is given twice");
}

std::int64_t parse_time(std::string_view text)
{
    const std::int64_t ns = base::parse<base::Nanoseconds>(text).count();
    if (ns > longest_ns) base::fail(text, " is longer than ", longest_ns / day_ns, " days, the longest trace");
    return ns;
}

}  // namespace

std::vector<std::string> words_of(std::string_view line)
{
    std::vector<std::string> words;
    for (const std::string& word : base::split(line, ' '))
        if (!word.empty()) words.push_back(word);
    return words;
}

Words parse_words(std::string_view line)
{
    Words words;
    for (const std::string& word : words_of(line)) {
        const std::size_t equals = word.find('=');
        if (words.head.empty())
            words.head = word;
        else if (equals != std::string::npos)
            set(words, word.substr(0, equals), word.substr(equals + 1));
        else
            words.plain.push_back(word);
    }
    return words;
}

std::optional<std::string> take(Words& words, const std::string& name)
{
    const auto found = words.settings.find(name);
    if (found == words.settings.end()) return std::nullopt;
    std::string value = std::move(found->second);
    words.settings.erase(found);
    return value;
}

void end_of_settings(const Words& words)
{
    if (words.settings.empty()) return;
    const std::string& wrong = words.settings.begin()->first;
    const std::vector<std::string> known{"offset", "drift", "bytes", "root", "comm", "tag", "request"};
    base::fail(words.head, " knows no ", wrong, "=", base::did_you_mean(wrong, known));
}

std::string only_word(const Words& words, const char* what)
{
    if (words.plain.size() != 1) base::fail(words.head, " takes ", what);
    return words.plain.front();
}

std::int64_t parse_signed_time(std::string_view text)
{
    return text.starts_with('-') ? -parse_time(text.substr(1)) : parse_time(text);
}

TimeRange parse_range(std::string_view text)
{
    const std::size_t dots = text.find("..");
    TimeRange range;
    range.least_ns = parse_time(text.substr(0, dots));
    range.most_ns = dots == std::string_view::npos ? range.least_ns : parse_time(text.substr(dots + 2));
    if (range.least_ns < 0 || range.most_ns < range.least_ns) base::fail(text, " is not a time or range of times");
    return range;
}

}  // namespace synth
