// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/parser.hpp"

#include "base/words.hpp"
#include "noisegen/schedule/builder.hpp"
#include "noisegen/stressors/registry.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace noisegen {

namespace {

constexpr base::Nanoseconds shortest{1'000'000};
constexpr base::Nanoseconds longest = std::chrono::hours{24 * 366};
constexpr std::size_t most_treatments = 4096;

const std::vector<std::string> forms{"rotation", "factorial", "random", "ramp"};

// The stressors for the letters of short schedules such as M2S2.
const std::map<char, std::string> letters{
    {'M', "memory.stream"}, {'N', "network.exchange"}, {'I', "io.write"}, {'C', "cpu.spin"}, {'S', "quiet"}};

base::Nanoseconds check_length(base::Nanoseconds length, std::string_view of)
{
    if (length.count() == 0) base::fail_usage("'", of, "' has zero length");
    if (length < shortest) base::fail_usage("'", of, "' is shorter than 1ms, the shortest slot");
    if (length > longest) base::fail_usage("'", of, "' is longer than a year");
    return length;
}

base::Nanoseconds parse_length(std::string_view text, std::string_view of)
{
    base::Nanoseconds length{};
    try {
        length = base::parse<base::Nanoseconds>(text);
    } catch (const base::UsageError& error) {
        base::fail_usage("'", of, "': ", error.what());
    }
    return check_length(length, of);
}

// Reports several stressors without separators or lengths: "memory.stream io.write 2s", "memory.stream, io.write".
void refuse_several(const std::string& phase)
{
    const std::vector<std::string> names = stressors().names();
    std::vector<std::string> found;
    for (const std::string& word : base::split(phase, ' ')) {
        const std::string name = word.substr(0, word.find_first_of("[,"));
        if (std::ranges::find(names, name) != names.end()) found.push_back(name);
    }
    if (found.size() > 1)
        base::fail_usage("'", phase, "' has several stressors: is a comma missing, as in rotation(", found[0], ", ",
                         found[1], "), or should they take turns: ", found[0], " 2s; ", found[1], " 2s?");
}

// Position of the length in "io.write 2s" or "io.write 2 s"; npos if there is none.
std::size_t begin_of_length(std::string_view phase)
{
    constexpr std::string_view blanks = " \t\n";
    const std::size_t last = phase.find_last_of(blanks);
    if (last == std::string_view::npos || phase.back() == ']' || phase.back() == ')') return std::string_view::npos;
    const auto digit_at = [&](std::size_t at) { return phase[at] >= '0' && phase[at] <= '9'; };
    const std::size_t before = phase.find_last_of(blanks, phase.find_last_not_of(blanks, last));
    const bool unit_apart = before != std::string_view::npos && digit_at(before + 1) && !digit_at(last + 1);
    return (unit_apart ? before : last) + 1;
}

// Parses "memory.stream[...] 2s; quiet 2s".
Schedule parse_sequence(std::string_view text)
{
    ScheduleBuilder builder{Schedule::Design::sequence, text};
    Sequence sequence;
    for (const std::string& phase : base::split(text, ';')) {
        if (phase.empty()) continue;  // a trailing semicolon: "A 1s; B 1s;"
        refuse_several(phase);
        const std::size_t length = begin_of_length(phase);
        const bool length_missing = length == std::string::npos;
        const std::string plug_in{base::trim(std::string_view{phase}.substr(0, length))};
        const std::vector<Treatment> factor = builder.factor(base::parse_plug_in(plug_in), false);
        if (length_missing) base::fail_usage("'", phase, "' has no length, such as '", phase, " 2s'");
        sequence.entries.push_back({factor.front(), parse_length(phase.substr(length), phase)});
    }
    if (sequence.entries.empty()) base::fail_usage("the schedule is empty; try 'memory.stream 2s; quiet 2s'");
    return builder.finish(std::move(sequence));
}

// Is it a short schedule such as "M2S2": only capitals and seconds?
bool is_short_word(std::string_view text)
{
    const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.'; };
    return text.size() >= 2 && text[0] >= 'A' && text[0] <= 'Z' && std::ranges::all_of(text, fits);
}

Schedule parse_short_word(std::string_view text)
{
    ScheduleBuilder builder{Schedule::Design::sequence, text};
    Sequence sequence;
    for (std::size_t i = 0; i < text.size();) {
        const auto stressor = letters.find(text[i]);
        if (stressor == letters.end())
            base::fail_usage("'", text, "': no stressor is called ", text[i],
                             " in the short form; there are M (memory.stream), ",
                             "N (network.exchange), I (io.write), C (cpu.spin) and S (quiet)");
        std::size_t end = i + 1;
        while (end < text.size() && (text[end] < 'A' || text[end] > 'Z')) ++end;
        const std::string seconds{text.substr(i + 1, end - i - 1)};
        if (seconds.empty()) base::fail_usage("'", text, "': ", text[i], " lacks its seconds, such as ", text[i], "2");
        const base::Nanoseconds length = parse_length(seconds + "s", text);
        const Treatment treatment = builder.factor({.name = stressor->second}, false).front();
        sequence.entries.push_back({treatment, length});
        i = end;
    }
    return builder.finish(std::move(sequence));
}

// Position of the bracket that closes the one at the text's start; npos if there is none.
std::size_t matching(std::string_view text)
{
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')' && --depth == 0) return i;
    }
    return std::string_view::npos;
}

// The arguments in "form(items; name=value; ...)".
struct Arguments {
    std::vector<std::string> items;
    std::map<std::string, std::string> options{};
};

Arguments parse_arguments(std::string_view form, std::string_view text, const std::vector<std::string>& known)
{
    std::string_view inside = text.substr(form.size());
    inside = base::trim(inside);
    if (!inside.starts_with('('))
        base::fail_usage("'", text, "': ", form, " takes its stressors in brackets, such as ", form,
                         form == "ramp" ? "(memory.stream; rate=0..16GiB/s)" : "(memory.stream, io.write; slot=1s)");
    const std::size_t closing = matching(inside);
    if (closing == std::string_view::npos)
        base::fail_usage("'", text, "' has an unclosed (: is a ) missing at the end?");
    if (closing + 1 != inside.size())
        base::fail_usage("'", base::trim(inside.substr(closing + 1)), "' follows the ) of ", form,
                         "(...), which must be the whole schedule");
    inside = inside.substr(1, inside.size() - 2);
    const std::vector<std::string> parts = base::split(inside, ';');
    if (parts.empty() || parts[0].empty()) base::fail_usage(form, "(...) names no stressor");
    Arguments arguments{.items = base::split(parts[0], ',')};
    for (const std::string& item : arguments.items)
        if (item.empty()) base::fail_usage("'", text, "' has nothing between two commas");
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::size_t equals = parts[i].find('=');
        const std::string name{base::trim(std::string_view{parts[i]}.substr(0, equals))};
        if (std::ranges::find(known, name) == known.end())
            base::fail_usage(form, " has no option '", name, "'", base::did_you_mean(name, known), " (it has ",
                             base::join_words(known, ", "), ")");
        if (equals == std::string::npos) base::fail_usage(form, ": ", name, " has no value");
        const std::string value{base::trim(std::string_view{parts[i]}.substr(equals + 1))};
        if (!arguments.options.emplace(name, value).second) base::fail_usage(form, " sets ", name, " twice");
    }
    return arguments;
}

template <class T>
T argument(std::string_view form, const Arguments& arguments, const std::string& name, T otherwise)
{
    const auto found = arguments.options.find(name);
    if (found == arguments.options.end()) return otherwise;
    try {
        return base::parse<T>(found->second);
    } catch (const base::UsageError& error) {
        base::fail_usage(form, ": ", name, ": ", error.what());
    }
}

std::optional<base::Nanoseconds> slot_argument(std::string_view form, const Arguments& arguments)
{
    const auto found = arguments.options.find("slot");
    if (found == arguments.options.end()) return base::Nanoseconds{1'000'000'000};
    if (found->second == "auto") return {};
    return parse_length(found->second, base::join(form, ": slot=", found->second));
}

// Appends quiet treatments until the block has as many as the option `quiet` says, `otherwise` by default; `there` are
// in the block already.
void add_quiet(std::string_view form, const Arguments& arguments, std::size_t otherwise, std::size_t there,
               std::vector<Treatment>& treatments)
{
    const auto quiet = argument<std::int64_t>(form, arguments, "quiet", static_cast<std::int64_t>(otherwise));
    if (quiet < 1 || quiet > 1000) base::fail_usage(form, ": quiet=", quiet, " is not in 1 to 1000");
    for (auto i = static_cast<std::int64_t>(there); i < quiet; ++i) treatments.emplace_back();
}

void refuse_quiet_item(std::string_view form, const Treatment& treatment)
{
    if (treatment.empty()) base::fail_usage(form, ": quiet is part of every block; quiet=2 sets how often");
}

Schedule rotation(std::string_view text, const Arguments& arguments, std::optional<base::Nanoseconds> slot)
{
    constexpr std::string_view form = "rotation";
    ScheduleBuilder builder{Schedule::Design::rotation, text};
    Blocks blocks{.slot = slot};
    for (const std::string& item : arguments.items)
        for (const Treatment& level : builder.new_factor(base::parse_plug_in(item), true)) {
            refuse_quiet_item(form, level);
            blocks.treatments.push_back(level);
        }
    // Every contrast uses quiet, so sqrt(K) quiet slots for K treatments give the shortest intervals.
    const auto quiet = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(blocks.treatments.size()))));
    add_quiet(form, arguments, quiet, 0, blocks.treatments);
    return builder.finish(std::move(blocks));
}

Schedule parse_rotation(std::string_view text)
{
    constexpr std::string_view form = "rotation";
    const Arguments arguments = parse_arguments(form, text, {"slot", "quiet"});
    return rotation(text, arguments, slot_argument(form, arguments));
}

Schedule parse_factorial(std::string_view text)
{
    constexpr std::string_view form = "factorial";
    const Arguments arguments = parse_arguments(form, text, {"slot", "quiet"});
    ScheduleBuilder builder{Schedule::Design::factorial, text};
    std::vector<Treatment> combinations{{}};
    std::vector<Treatment> alone;
    for (const std::string& item : arguments.items) {
        const std::vector<Treatment> levels = builder.new_factor(base::parse_plug_in(item), true);
        refuse_quiet_item(form, levels.front());
        if (!builder.runs_on_cpus(levels.front())) {
            alone.insert(alone.end(), levels.begin(), levels.end());
            continue;
        }
        std::vector<Treatment> with = combinations;
        for (const Treatment& level : levels)
            for (Treatment combination : combinations) {
                combination.push_back(level.front());
                with.push_back(std::move(combination));
            }
        if (with.size() > most_treatments) base::fail_usage("factorial: more than ", most_treatments, " combinations");
        combinations = std::move(with);
    }
    combinations.insert(combinations.end(), alone.begin(), alone.end());
    add_quiet(form, arguments, 1, 1, combinations);
    return builder.finish(Blocks{.treatments = std::move(combinations), .slot = slot_argument(form, arguments)});
}

Schedule parse_random(std::string_view text)
{
    constexpr std::string_view form = "random";
    const Arguments arguments = parse_arguments(form, text, {"slot"});
    ScheduleBuilder builder{Schedule::Design::sequence, text};
    RandomSlots random;
    double sum = 0.0;
    for (const std::string& item : arguments.items) {
        const std::size_t equals = item.rfind('=');
        if (equals == std::string::npos || item.find(']', equals) != std::string::npos)
            base::fail_usage("random: '", item, "' has no share, such as ", item, "=25%");
        const std::vector<Treatment> factor = builder.new_factor(base::parse_plug_in(item.substr(0, equals)), false);
        base::Percent percent;
        try {
            percent = base::parse<base::Percent>(item.substr(equals + 1));
        } catch (const base::UsageError& error) {
            base::fail_usage("random: '", item, "': ", error.what());
        }
        sum += percent.value;
        random.shares.push_back({factor.front(), percent});
    }
    if (std::abs(sum - 100.0) > 0.01)
        base::fail_usage("random: shares add up to ", base::format(sum), "%, not to 100%");
    const auto slot = arguments.options.find("slot");
    random.slot = parse_length(slot == arguments.options.end() ? "1s" : slot->second, "random: slot");
    return builder.finish(std::move(random));
}

// Equal steps from "0..16GiB/s", both ends included.
std::vector<base::Rate> ramp_rates(const std::string& range, std::int64_t steps)
{
    const std::size_t dots = range.find("..");
    if (dots == std::string::npos) base::fail_usage("ramp: rate=", range, " is not a range, such as 0..16GiB/s");
    auto last = base::parse<base::Rate>(range.substr(dots + 2));
    auto first = base::parse<base::Rate>(range.substr(0, dots));
    if (first.per_second == 0.0) first.of = last.of;  // zero needs no unit
    if (last.per_second == 0.0) last.of = first.of;
    if (first.of != last.of) base::fail_usage("ramp: rate=", range, " mixes bytes and operations");
    std::vector<base::Rate> rates;
    for (std::int64_t i = 0; i < steps; ++i) {
        const double share = static_cast<double>(i) / static_cast<double>(steps - 1);
        rates.push_back({std::round(first.per_second + share * (last.per_second - first.per_second)), last.of});
    }
    return rates;
}

Schedule parse_ramp(std::string_view text)
{
    constexpr std::string_view form = "ramp";
    const Arguments arguments = parse_arguments(form, text, {"rate", "steps", "hold"});
    if (arguments.items.size() != 1) base::fail_usage("ramp takes one stressor");
    if (!arguments.options.contains("rate")) base::fail_usage("ramp needs a rate, such as rate=0..16GiB/s");
    const auto steps = argument<std::int64_t>(form, arguments, "steps", 8);
    if (steps < 2 || steps > 1000) base::fail_usage("ramp: steps=", steps, " is not in 2 to 1000");
    const auto hold = arguments.options.find("hold");
    const base::Nanoseconds length = parse_length(hold == arguments.options.end() ? "5s" : hold->second, "ramp: hold");

    const base::PlugInText plug_in = base::parse_plug_in(arguments.items[0]);
    if (plug_in.options.contains("rate"))
        base::fail_usage("ramp: the rate comes after the stressor: ramp(a; rate=...)");
    const StressorCard& card = stressors().find(plug_in.name);
    if (!card.counts_bytes && !card.counts_operations) base::fail_usage("ramp: ", plug_in.name, " has no rate");

    const std::vector<base::Rate> rates = ramp_rates(arguments.options.at("rate"), steps);
    std::vector<base::Rate> over_zero;
    std::copy_if(rates.begin(), rates.end(), std::back_inserter(over_zero),
                 [](const base::Rate& rate) { return rate.per_second > 0.0; });
    if (over_zero.empty()) base::fail_usage("ramp: rate=", arguments.options.at("rate"), " never rises above zero");

    ScheduleBuilder builder{Schedule::Design::sequence, text};
    const std::vector<Treatment> treatments = builder.factor_at(plug_in, over_zero);
    Sequence sequence;
    auto treatment = treatments.begin();
    for (const base::Rate rate : rates)
        sequence.entries.push_back({rate.per_second > 0.0 ? *treatment++ : Treatment{}, length});
    return builder.finish(std::move(sequence));
}

}  // namespace

Schedule parse_schedule(std::string_view whole)
{
    const std::string_view text = base::trim(whole);
    const std::string word{base::trim(text.substr(0, text.find('(')))};
    if (word == "rotation") return parse_rotation(text);
    if (word == "factorial") return parse_factorial(text);
    if (word == "random") return parse_random(text);
    if (word == "ramp") return parse_ramp(text);
    const bool called = text.ends_with(')') && word.find_first_of(" ;=[") == std::string::npos;
    if (called)
        base::fail_usage("no schedule '", word, "(...)'", base::did_you_mean(word, forms), " (there are ",
                         base::join_words(forms, ", "), ")");
    const std::string first = text.empty() ? std::string{} : base::split(text, ' ').front();
    if (std::ranges::find(forms, first) != forms.end()) parse_arguments(first, text, {});
    if (is_short_word(text)) return parse_short_word(text);
    return parse_sequence(text);
}

Schedule rotation_of(const std::vector<std::string>& stressors, base::Nanoseconds slot)
{
    const std::string length = base::format(slot);
    return rotation("rotation(" + base::join_words(stressors, ", ") + "; slot=" + length + ")", {.items = stressors},
                    check_length(slot, "rotation: slot=" + length));
}

}  // namespace noisegen
