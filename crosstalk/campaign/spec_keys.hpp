// SPDX-License-Identifier: Apache-2.0
// Keys of SPEC.ini, a file with a line NAME = VALUE for each setting. Each kind of campaign lists its own.
#pragma once

#include "base/cli/manual.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace crosstalk {

inline constexpr std::uint64_t longest_spec = 1 << 20U;  // bytes

template <class Spec>
struct SpecKey {
    std::string name;
    std::string help;
    std::function<void(Spec&, const std::string& value)> take;
    std::function<void(Spec&, const std::string& word, const std::string& value)> take_named{};  // parameter NAME
};
template <class Spec>
using SpecKeys = std::vector<SpecKey<Spec>>;

// A key whose value goes to a member; a list has commas.
template <class Spec, class T>
SpecKey<Spec> spec_key(const std::string& name, T Spec::*member, const std::string& help)
{
    return {name, help, [member](Spec& spec, const std::string& text) {
                if constexpr (std::is_same_v<T, std::vector<std::string>>)
                    spec.*member = base::split(text, ',');
                else
                    spec.*member = base::parse<T>(text);
            }};
}

// The lines of a spec, and the setting in one: NAME and VALUE, both empty if it has none.
std::vector<std::string> lines_of_spec(const std::filesystem::path& file);
std::pair<std::string, std::string> setting_in(const std::string& line);

// Passes each setting to `take`, with the index of its name in `names`. A name of two words, "parameter NAME", matches
// every setting that begins with its first word; `word` is then the second word of the setting. Returns the names that
// the file has. Throws UsageError that names file and line, for errors of `take` too, and suggests the right name for a
// wrong one.
std::set<std::string> read_settings(
    const std::filesystem::path& file, const std::vector<std::string>& names,
    const std::function<void(std::size_t, const std::string& word, const std::string& value)>& take);

// Reads a spec over the defaults in `spec`. `check` gets the names that the file has. Throws UsageError.
template <class Spec, class Check>
Spec read_spec_of(const std::filesystem::path& file, const SpecKeys<Spec>& keys, const Check& check, Spec spec = {})
{
    std::vector<std::string> names;
    for (const SpecKey<Spec>& key : keys) names.push_back(key.name);
    const auto take = [&](std::size_t key, const std::string& word, const std::string& value) {
        if (keys[key].take_named)
            keys[key].take_named(spec, word, value);
        else
            keys[key].take(spec, value);
    };
    const std::set<std::string> given = read_settings(file, names, take);
    try {
        check(spec, given);
    } catch (const base::UsageError& error) {
        base::fail_usage(file.string(), ": ", error.what());
    }
    return spec;
}

// Description of the keys, for the manual.
template <class Spec>
base::Section section_of(const std::string& title, const SpecKeys<Spec>& keys)
{
    base::Section section{.title = title, .text = {}, .entries = {}};
    for (const SpecKey<Spec>& key : keys) section.entries.push_back({.term = key.name, .text = key.help});
    return section;
}

}  // namespace crosstalk
