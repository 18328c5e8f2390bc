// SPDX-License-Identifier: Apache-2.0
#include "base/cli/cards.hpp"

#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <ostream>

namespace base {

namespace {

// Names and values appear in tables and traces and on terminals.
void check_printable(std::string_view text)
{
    if (printable(text) != text) fail_usage("'", text, "' contains an unprintable character");
}

}  // namespace

PlugInText parse_plug_in(std::string_view whole)
{
    std::string_view text = trim(whole);
    PlugInText plug_in;
    const std::size_t bracket = text.find('[');
    if (bracket != std::string_view::npos) {
        if (!text.ends_with(']')) fail_usage("'", whole, "' has a [ but does not end with ]");
        const std::string_view inside = text.substr(bracket + 1, text.size() - bracket - 2);
        if (inside.find_first_of("[]") != std::string_view::npos) fail_usage("'", whole, "' has nested brackets");
        for (const std::string& assignment : split(inside, ',')) {
            const std::size_t equals = assignment.find('=');
            if (equals == std::string::npos) fail_usage("'", assignment, "' in '", whole, "' is not name=value");
            const std::string name{trim(std::string_view{assignment}.substr(0, equals))};
            const std::string value{trim(std::string_view{assignment}.substr(equals + 1))};
            check_printable(name);
            check_printable(value);
            if (!plug_in.options.emplace(name, value).second) fail_usage("'", whole, "' sets ", name, " twice");
        }
        text = text.substr(0, bracket);
    }
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
        plug_in.label = trim(text.substr(0, equals));
        if (plug_in.label.empty()) fail_usage("'", whole, "' has an = without a label before it");
        text = text.substr(equals + 1);
    }
    plug_in.name = trim(text);
    check_printable(plug_in.label);
    check_printable(plug_in.name);
    const bool word = !plug_in.name.empty() &&
                      plug_in.name.find_first_of(" \t\n[]()=;,|*\"'<>&") == std::string::npos &&
                      plug_in.label.find_first_of(" \t\n[]()=;,|*\"'<>&") == std::string::npos;
    if (const std::size_t blank = plug_in.name.find_first_of(" \t\n"); !word && blank != std::string::npos)
        fail_usage("'", whole, "': is a comma missing between '", plug_in.name.substr(0, blank), "' and '",
                   trim(std::string_view{plug_in.name}.substr(blank)), "'?");
    if (!word) fail_usage("'", whole, "' is not a name with options, such as memory.stream[rate=4GiB/s]");
    return plug_in;
}

namespace {

nlohmann::ordered_json to_json(const CardText& card)
{
    nlohmann::ordered_json json{{"name", card.name}, {"summary", card.summary}, {"options", nlohmann::json::array()}};
    for (const OptionCard& option : card.options)
        json["options"].push_back({{"name", option.name}, {"default", option.default_text}, {"help", option.help}});
    return json;
}

bool same(const OptionCard& a, const OptionCard& b)
{
    return a.name == b.name && a.default_text == b.default_text && a.help == b.help;
}

// The first card that has the option with the same default and help.
const CardText& first_with(const OptionCard& option, const std::vector<CardText>& cards)
{
    return *std::ranges::find_if(cards, [&](const CardText& card) {
        return std::ranges::any_of(card.options, [&](const OptionCard& other) { return same(option, other); });
    });
}

void print(std::ostream& out, const CardText& card, const std::vector<CardText>& cards)
{
    out << "  " << card.name << std::string(card.name.size() < 20 ? 20 - card.name.size() : 1, ' ') << card.summary
        << "\n";
    std::vector<std::pair<std::string, std::string>> as_of;  // name of an earlier card, options that are the same there
    for (const OptionCard& option : card.options) {
        const CardText& first = first_with(option, cards);
        if (&first == &card) {
            out << "      " << option.name << "=" << option.default_text << "  " << option.help << "\n";
        } else if (!as_of.empty() && as_of.back().first == first.name) {
            as_of.back().second += ", " + option.name;
        } else {
            as_of.emplace_back(first.name, option.name);
        }
    }
    for (const auto& [name, options] : as_of) out << "      " << options << "  as of " << name << "\n";
}

}  // namespace

void list(std::ostream& out, const std::vector<Catalogue>& catalogues, bool json)
{
    nlohmann::ordered_json all;
    for (const Catalogue& catalogue : catalogues) {
        if (!json) out << catalogue.heading << ":\n";
        std::string key = catalogue.heading;
        std::replace(key.begin(), key.end(), ' ', '_');
        for (const CardText& card : catalogue.cards) {
            if (json)
                all[key].push_back(to_json(card));
            else
                print(out, card, catalogue.cards);
        }
    }
    if (json) out << json_text(all) << "\n";
}

Settings::Settings(const std::string& plug_in, std::span<const OptionCard> cards,
                   const std::map<std::string, std::string>& given)
    : plug_in_{plug_in}
{
    std::vector<std::string> known;
    for (const OptionCard& card : cards) {
        known.push_back(card.name);
        values_[card.name] = card.default_text;
    }
    for (const auto& [name, value] : given) {
        if (std::ranges::find(known, name) == known.end()) {
            const std::string right = known.empty() ? "it has none" : "it has " + join_words(known, ", ");
            const std::string meant = did_you_mean(name, known);
            fail_usage(plug_in, " has no option '", name, "'", meant,
                       meant.empty() ? "; " + right : " (" + right + ")");
        }
        values_[name] = value;
        given_.push_back(name);
    }
}

const std::string& Settings::text(const std::string& name) const
{
    const auto found = values_.find(name);
    if (found == values_.end())
        throw std::logic_error{plug_in_ + " reads option " + name + ", which is not on its card"};
    return found->second;
}

bool Settings::given(const std::string& name) const
{
    return std::ranges::find(given_, name) != given_.end();
}

}  // namespace base
