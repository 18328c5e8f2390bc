// SPDX-License-Identifier: Apache-2.0
// Registries of plug-ins. Each plug-in's file ends in its card (name, summary, options, factory), and the registry
// lists the cards. Names, --list, help and the checks of options are derived from the cards.
#pragma once

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"

#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace base {

struct OptionCard {
    std::string name;
    std::string default_text;  // also shows the unit to the reader: "64MiB"
    std::string help;
};

// A plug-in as users write it: "mem=memory.stream[rate=4GiB/s,bytes=256MiB]".
struct PlugInText {
    std::string label{};  // "mem"; empty if none was given
    std::string name;     // "memory.stream"
    std::map<std::string, std::string> options{};
};

// Throws UsageError for text that does not have this form.
PlugInText parse_plug_in(std::string_view text);

// The options of one plug-in. Every option on the card has a value, given or default; other options are refused.
class Settings {
 public:
    Settings(const std::string& plug_in, std::span<const OptionCard> cards,
             const std::map<std::string, std::string>& given);

    // The option's value, parsed by parse<T>(); errors name the plug-in and the option.
    template <class T>
    T get(const std::string& name) const
    {
        try {
            return parse<T>(text(name));
        } catch (const UsageError& error) {
            fail_usage(plug_in_, "[", name, "]: ", error.what());
        }
    }

    const std::string& text(const std::string& name) const;
    bool given(const std::string& name) const;
    const std::map<std::string, std::string>& all() const { return values_; }

 private:
    std::string plug_in_;
    std::map<std::string, std::string> values_;
    std::vector<std::string> given_;
};

// A plug-in as --list shows it.
struct CardText {
    std::string name;
    std::string summary;
    std::vector<OptionCard> options;
};
struct Catalogue {
    std::string heading;  // plural of the kind: "stressors"
    std::vector<CardText> cards;
};

// Prints one plug-in a line with its options indented below it. Options that an earlier plug-in has with the same
// default and help are listed by name only. As JSON: an object with the headings as keys (blanks become _), each a list
// of name, summary and options (name, default, help).
void list(std::ostream& out, const std::vector<Catalogue>& catalogues, bool json);

// The registry of one kind of plug-in. Card needs .name, .summary, .options (a range of OptionCard).
template <class Card>
class Registry {
 public:
    // kind: "stressor"; program: the program whose --list shows all plug-ins, for error messages.
    Registry(std::string kind, std::string program, std::vector<const Card*> cards)
        : kind_{std::move(kind)}, program_{std::move(program)}, cards_{std::move(cards)}
    {
    }

    const Card& find(const std::string& name) const
    {
        for (const Card* card : cards_)
            if (card->name == name) return *card;
        fail_usage("no ", kind_, " '", name, "'", did_you_mean(name, names()), " (", program_, " --list shows all)");
    }

    Settings settings(const Card& card, const std::map<std::string, std::string>& given) const
    {
        return Settings{card.name, card.options, given};
    }

    std::vector<std::string> names() const
    {
        std::vector<std::string> names;
        for (const Card* card : cards_) names.push_back(card->name);
        return names;
    }

    const std::vector<const Card*>& cards() const { return cards_; }

    Catalogue catalogue() const
    {
        Catalogue all{kind_.ends_with('y') ? kind_.substr(0, kind_.size() - 1) + "ies" : kind_ + "s", {}};
        for (const Card* card : cards_)
            all.cards.push_back({card->name, card->summary, {card->options.begin(), card->options.end()}});
        return all;
    }

 private:
    std::string kind_;
    std::string program_;
    std::vector<const Card*> cards_;
};

}  // namespace base
