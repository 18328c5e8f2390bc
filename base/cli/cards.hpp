// SPDX-License-Identifier: Apache-2.0
// Plug-ins on a registry: each ends in its card (name, summary, options, factory); the registry lists the cards. Names,
// --list, help and the checking of options come from the cards.
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
    std::string default_text;  // also tells the reader the unit: "64MiB"
    std::string help;
};

// "mem=memory.stream[rate=4GiB/s,bytes=256MiB]": a plug-in as users name it.
struct PlugInText {
    std::string label;  // "mem"; empty if none was given
    std::string name;   // "memory.stream"
    std::map<std::string, std::string> options;
};

// Throws UsageError for text that does not have this form.
PlugInText parse_plug_in(std::string_view text);

// The options of one plug-in: every card option has a value, given or default; no other is accepted.
class Settings {
 public:
    Settings(const std::string& plug_in, std::span<const OptionCard> cards,
             const std::map<std::string, std::string>& given);

    // Parsed as parse<T>() does; errors name the plug-in and the option.
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

// A kind of plug-in as --list shows it.
struct CardText {
    std::string name;
    std::string summary;
    std::vector<OptionCard> options;
};
struct Catalogue {
    std::string heading;  // "stressors"
    std::vector<CardText> cards;
};

// One plug-in a line, its options indented below it; what an earlier one has in the same words is named only. As JSON:
// an object with the headings as keys (a blank becomes _), each a list of name, summary and options (name, default,
// help).
void list(std::ostream& out, const std::vector<Catalogue>& catalogues, bool json);

// The registry of one kind of plug-in. Card needs .name, .summary, .options (a range of OptionCard).
template <class Card>
class Registry {
 public:
    // kind: "stressor"; program: the one whose --list shows all.
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
