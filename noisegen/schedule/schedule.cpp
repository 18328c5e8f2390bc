#include "noisegen/schedule/schedule.hpp"

#include "base/contract/factor_name.hpp"
#include "base/words.hpp"
#include "noisegen/stressors/registry.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace noisegen {

namespace {

constexpr base::Nanoseconds shortest{1'000'000};
constexpr base::Nanoseconds longest = std::chrono::hours{24 * 366};
constexpr std::size_t most_treatments = 4096;

const std::vector<std::string> forms{"rotation", "factorial", "random", "ramp"};

// The stressors of the short words, M2S2.
const std::map<char, std::string> letters{
    {'M', "memory.stream"}, {'N', "network.exchange"}, {'I', "io.write"}, {'C', "cpu.spin"}, {'S', "quiet"}};

base::Nanoseconds parse_length(std::string_view text, std::string_view of)
{
    base::Nanoseconds length{};
    try {
        length = base::parse<base::Nanoseconds>(text);
    } catch (const base::UsageError& error) {
        base::fail_usage("'", of, "': ", error.what());
    }
    if (length.count() == 0) base::fail_usage("'", of, "' has length zero");
    if (length < shortest) base::fail_usage("'", of, "' is shorter than 1ms, which nobody can switch exactly");
    if (length > longest) base::fail_usage("'", of, "' is longer than a year");
    return length;
}

// Collects levels, each stressor with its options once: levels of a rate share one.
class Builder {
 public:
    Builder(Schedule::Design design, std::string_view text)
    {
        schedule_.text = base::trim(text);
        schedule_.design = design;
    }

    // Every level of the factor; nothing for quiet.
    std::vector<Treatment> factor(const base::PlugInText& plug_in, bool may_have_levels)
    {
        const StressorCard& card = stressors().find(plug_in.name);
        if (card.name == "quiet") {
            if (!plug_in.label.empty() || !plug_in.options.empty())
                base::fail_usage("quiet has no label and no options");
            return {{}};
        }
        const std::string label = plug_in.label.empty() ? plug_in.name : plug_in.label;
        if (label == "quiet") base::fail_usage("the label quiet is taken: it means that nothing is on");
        std::vector<Treatment> levels;
        for (const auto& [level, options] : levels_of(plug_in))
            levels.push_back({index_of(label, level, card, options)});
        if (levels.size() > 1 && !may_have_levels)
            base::fail_usage("'", label, "' has levels, which only rotation(...) and factorial(...) can use");
        return levels;
    }

    // As above, for forms in which a label stands once.
    std::vector<Treatment> new_factor(const base::PlugInText& plug_in, bool may_have_levels)
    {
        const std::string label = plug_in.label.empty() ? plug_in.name : plug_in.label;
        if (!labels_.insert(label).second)
            base::fail_usage("two factors are called '", label, "'; give them labels: a=", plug_in.name,
                             ", b=", plug_in.name);
        return factor(plug_in, may_have_levels);
    }

    bool runs_on_cpus(const Treatment& treatment) const
    {
        const FactorLevel& first = schedule_.levels.at(treatment.at(0));
        return schedule_.stressors[first.stressor].card->cpus == StressorCard::Cpus::own;
    }

    Schedule finish(decltype(Schedule::order) order)
    {
        if (schedule_.design != Schedule::Design::sequence) check_controls();
        schedule_.order = std::move(order);
        return std::move(schedule_);
    }

 private:
    using Options = std::map<std::string, std::string>;

    // One option may list levels: rate=4GiB/s|8GiB/s.
    static std::vector<std::pair<std::string, Options>> levels_of(const base::PlugInText& plug_in)
    {
        std::string with_levels;
        for (const auto& [name, value] : plug_in.options) {
            if (value.find('|') == std::string::npos) continue;
            if (!with_levels.empty())
                base::fail_usage(plug_in.name, " has levels in ", with_levels, " and in ", name,
                                 "; one option may have them");
            with_levels = name;
        }
        if (with_levels.empty()) return {{"", plug_in.options}};
        std::vector<std::pair<std::string, Options>> levels;
        std::set<std::string> seen;
        for (const std::string& value : base::split(plug_in.options.at(with_levels), '|')) {
            if (value.empty()) base::fail_usage(plug_in.name, "[", with_levels, "] has an empty level");
            if (!seen.insert(value).second)
                base::fail_usage(plug_in.name, " has the level ", with_levels, "=", value, " twice");
            Options options = plug_in.options;
            options[with_levels] = value;
            levels.emplace_back(with_levels + "=" + value, std::move(options));
        }
        return levels;
    }

    void check_controls() const
    {
        const auto has = [this](base::Role role) {
            return std::any_of(schedule_.stressors.begin(), schedule_.stressors.end(),
                               [role](const Configured& stressor) { return stressor.card->role == role; });
        };
        if (has(base::Role::delay) != has(base::Role::sham))
            base::fail_usage(
                "control.delay and control.sham go together: the delay is measured against the same "
                "barriers without a delay; '",
                schedule_.text, "' has one of them only");
    }

    std::size_t index_of(const std::string& label, const std::string& value, const StressorCard& card,
                         const Options& options)
    {
        const base::Settings settings = stressors().settings(card, options);
        card.needs(settings);
        FactorLevel level{.factor = label,
                          .level = value,
                          .stressor = stressor(label, card, options),
                          .intensity = intensity(card, settings)};
        for (std::size_t i = 0; i < schedule_.levels.size(); ++i) {
            const FactorLevel& known = schedule_.levels[i];
            if (known.factor != label || known.level != value) continue;
            if (known.stressor == level.stressor && known.intensity == level.intensity) return i;
            base::fail_usage("'", label,
                             "' stands for two things; give one of them a label of its own: other=", card.name);
        }
        schedule_.levels.push_back(std::move(level));
        return schedule_.levels.size() - 1;
    }

    // In a factorial two factors may be on together, each on CPUs of its own: there they share no stressor.
    std::size_t stressor(const std::string& label, const StressorCard& card, Options options)
    {
        for (const std::string& name : intensity_options()) options.erase(name);
        const base::Settings settings = stressors().settings(card, options);
        const std::string owner = schedule_.design == Schedule::Design::factorial ? label : "";
        for (std::size_t i = 0; i < schedule_.stressors.size(); ++i) {
            const Configured& known = schedule_.stressors[i];
            if (known.card == &card && known.settings.all() == settings.all() && owners_[i] == owner) return i;
        }
        schedule_.stressors.push_back({&card, settings});
        owners_.push_back(owner);
        return schedule_.stressors.size() - 1;
    }

    Schedule schedule_;
    std::set<std::string> labels_;
    std::vector<std::string> owners_;  // by stressor: in a factorial the label of its factor
};

// "memory.stream[...] 2s; quiet 2s"
Schedule parse_sequence(std::string_view text)
{
    Builder builder{Schedule::Design::sequence, text};
    Sequence sequence;
    for (const std::string& phase : base::split(text, ';')) {
        if (phase.empty()) continue;  // "A 1s; B 1s;"
        const std::size_t space = phase.find_last_of(" \t\n");
        const bool length_missing = space == std::string::npos || phase.back() == ']' || phase.back() == ')';
        const std::string plug_in = length_missing ? phase : phase.substr(0, space);
        const std::vector<Treatment> factor = builder.factor(base::parse_plug_in(plug_in), false);
        if (length_missing) base::fail_usage("'", phase, "' has no length, such as '", phase, " 2s'");
        sequence.entries.push_back({factor.front(), parse_length(phase.substr(space + 1), phase)});
    }
    if (sequence.entries.empty()) base::fail_usage("the schedule is empty; try 'memory.stream 2s; quiet 2s'");
    return builder.finish(std::move(sequence));
}

// "M2S2": capitals and seconds only.
bool is_short_word(std::string_view text)
{
    const auto fits = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.'; };
    return text.size() >= 2 && text[0] >= 'A' && text[0] <= 'Z' && std::all_of(text.begin(), text.end(), fits);
}

Schedule parse_short_word(std::string_view text)
{
    std::string sequence;
    for (std::size_t i = 0; i < text.size();) {
        const auto stressor = letters.find(text[i]);
        if (stressor == letters.end())
            base::fail_usage("'", text, "': no stressor is called ", text[i],
                             " for short; there are M (memory.stream), ",
                             "N (network.exchange), I (io.write), C (cpu.spin) and S (quiet)");
        std::size_t end = i + 1;
        while (end < text.size() && (text[end] < 'A' || text[end] > 'Z')) ++end;
        const std::string seconds{text.substr(i + 1, end - i - 1)};
        if (seconds.empty()) base::fail_usage("'", text, "': ", text[i], " lacks its seconds, such as ", text[i], "2");
        parse_length(seconds + "s", text);
        sequence += stressor->second + " " + seconds + "s; ";
        i = end;
    }
    Schedule schedule = parse_sequence(sequence);
    schedule.text = text;
    return schedule;
}

// The inside of "form(items; name=value; ...)".
struct Arguments {
    std::vector<std::string> items;
    std::map<std::string, std::string> options;
};

Arguments parse_arguments(std::string_view form, std::string_view text, const std::vector<std::string>& known)
{
    std::string_view inside = text.substr(form.size());
    inside = base::trim(inside);
    if (!inside.starts_with('(') || !inside.ends_with(')')) base::fail_usage("'", text, "' is not ", form, "(...)");
    inside = inside.substr(1, inside.size() - 2);
    const std::vector<std::string> parts = base::split(inside, ';');
    if (parts.empty() || parts[0].empty()) base::fail_usage(form, "(...) names no stressor");
    Arguments arguments{.items = base::split(parts[0], ','), .options = {}};
    for (const std::string& item : arguments.items)
        if (item.empty()) base::fail_usage("'", text, "' has an empty place between commas");
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::size_t equals = parts[i].find('=');
        const std::string name{base::trim(std::string_view{parts[i]}.substr(0, equals))};
        if (std::find(known.begin(), known.end(), name) == known.end())
            base::fail_usage(form, " has no option '", name, "'; it has ", base::join_words(known, ", "));
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

// Appends quiet treatments; `there` are in the block already.
void add_quiet(std::string_view form, const Arguments& arguments, std::size_t otherwise, std::size_t there,
               std::vector<Treatment>& treatments)
{
    const auto quiet = argument<std::int64_t>(form, arguments, "quiet", static_cast<std::int64_t>(otherwise));
    if (quiet < 1 || quiet > 1000) base::fail_usage(form, ": quiet=", quiet, " is not in 1 to 1000");
    for (auto i = static_cast<std::int64_t>(there); i < quiet; ++i) treatments.emplace_back();
}

void refuse_quiet_item(std::string_view form, const Treatment& treatment)
{
    if (treatment.empty()) base::fail_usage(form, ": quiet is in every block by itself; quiet=2 says how often");
}

Schedule rotation(std::string_view text, const Arguments& arguments)
{
    constexpr std::string_view form = "rotation";
    Builder builder{Schedule::Design::rotation, text};
    Blocks blocks{.treatments = {}, .slot = slot_argument(form, arguments)};
    for (const std::string& item : arguments.items)
        for (const Treatment& level : builder.new_factor(base::parse_plug_in(item), true)) {
            refuse_quiet_item(form, level);
            blocks.treatments.push_back(level);
        }
    // Every contrast uses quiet: sqrt(K) of it for K treatments makes their intervals shortest.
    const auto quiet = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(blocks.treatments.size()))));
    add_quiet(form, arguments, quiet, 0, blocks.treatments);
    return builder.finish(std::move(blocks));
}

Schedule parse_factorial(std::string_view text)
{
    constexpr std::string_view form = "factorial";
    const Arguments arguments = parse_arguments(form, text, {"slot", "quiet"});
    Builder builder{Schedule::Design::factorial, text};
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
    Builder builder{Schedule::Design::sequence, text};
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
        base::fail_usage("random: the shares add up to ", base::format(sum), "%, not to 100%");
    const auto slot = arguments.options.find("slot");
    random.slot = parse_length(slot == arguments.options.end() ? "1s" : slot->second, "random: slot");
    return builder.finish(std::move(random));
}

// "0..16GiB/s" in so many equal steps, both ends included.
std::vector<base::Rate> ramp_rates(const std::string& range, std::int64_t steps)
{
    const std::size_t dots = range.find("..");
    if (dots == std::string::npos) base::fail_usage("ramp: rate=", range, " is no range, such as 0..16GiB/s");
    auto last = base::parse<base::Rate>(range.substr(dots + 2));
    auto first = base::parse<base::Rate>(range.substr(0, dots));
    if (first.per_second == 0.0) first.of = last.of;  // zero needs no unit
    if (last.per_second == 0.0) last.of = first.of;
    if (first.of != last.of) base::fail_usage("ramp: rate=", range, " has bytes at one end, operations at the other");
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
    if (!arguments.options.contains("rate")) base::fail_usage("ramp lacks its rate, such as rate=0..16GiB/s");
    const auto steps = argument<std::int64_t>(form, arguments, "steps", 8);
    if (steps < 2 || steps > 1000) base::fail_usage("ramp: steps=", steps, " is not in 2 to 1000");
    const auto hold = arguments.options.find("hold");
    const base::Nanoseconds length = parse_length(hold == arguments.options.end() ? "5s" : hold->second, "ramp: hold");

    base::PlugInText plug_in = base::parse_plug_in(arguments.items[0]);
    if (plug_in.options.contains("rate"))
        base::fail_usage("ramp: the rate stands behind the stressor: ramp(a; rate=...)");
    const StressorCard& card = stressors().find(plug_in.name);
    if (!card.counts_bytes && !card.counts_operations) base::fail_usage("ramp: ", plug_in.name, " has no rate");

    const std::vector<base::Rate> rates = ramp_rates(arguments.options.at("rate"), steps);
    std::string levels;
    for (const base::Rate rate : rates)
        if (rate.per_second > 0.0) levels += (levels.empty() ? "" : "|") + base::format(rate);
    if (levels.empty()) base::fail_usage("ramp: rate=", arguments.options.at("rate"), " never rises over zero");
    plug_in.options["rate"] = levels;

    Builder builder{Schedule::Design::sequence, text};
    const std::vector<Treatment> treatments = builder.factor(plug_in, true);
    Sequence sequence;
    auto treatment = treatments.begin();
    for (const base::Rate rate : rates)
        sequence.entries.push_back({rate.per_second > 0.0 ? *treatment++ : Treatment{}, length});
    return builder.finish(std::move(sequence));
}

}  // namespace

std::vector<std::string> Schedule::factors() const
{
    std::vector<std::string> labels;
    for (const FactorLevel& level : levels)
        if (std::find(labels.begin(), labels.end(), level.factor) == labels.end()) labels.push_back(level.factor);
    return labels;
}

std::vector<std::size_t> Schedule::with_own_cpus() const
{
    std::vector<std::size_t> own;
    for (std::size_t i = 0; i < stressors.size(); ++i)
        if (stressors[i].card->cpus == StressorCard::Cpus::own) own.push_back(i);
    return own;
}

void Schedule::set_slot(base::Nanoseconds length)
{
    std::get<Blocks>(order).slot = length;
}

bool Schedule::needs_slot() const
{
    const auto* blocks = std::get_if<Blocks>(&order);
    return blocks != nullptr && !blocks->slot.has_value();
}

base::Nanoseconds Schedule::block_length() const
{
    const auto* blocks = std::get_if<Blocks>(&order);
    if (blocks == nullptr || !blocks->slot) return {};
    return *blocks->slot * static_cast<std::int64_t>(blocks->treatments.size());
}

void follow(Schedule& schedule, const std::vector<base::TrainingPhase>& phases)
{
    if (phases.empty()) return;
    bool any = false;
    for (FactorLevel& level : schedule.levels) {
        if (!has_intensity(*schedule.stressors[level.stressor].card) || level.intensity.duty.value < 100.0) continue;
        if (level.intensity.follow.empty()) level.intensity.follow = phases;
        any = true;
    }
    if (!any) base::fail_usage("--follow: nothing in '", schedule.text, "' can follow a training");
}

std::string name(Schedule::Design design)
{
    switch (design) {
        case Schedule::Design::sequence:
            return "sequence";
        case Schedule::Design::rotation:
            return "rotation";
        case Schedule::Design::factorial:
            return "factorial";
    }
    return {};
}

Schedule parse_schedule(std::string_view whole)
{
    const std::string_view text = base::trim(whole);
    const std::string word{base::trim(text.substr(0, text.find('(')))};
    if (word == "rotation") return rotation(text, parse_arguments(word, text, {"slot", "quiet"}));
    if (word == "factorial") return parse_factorial(text);
    if (word == "random") return parse_random(text);
    if (word == "ramp") return parse_ramp(text);
    const bool called = text.ends_with(')') && word.find_first_of(" ;=[") == std::string::npos;
    if (called)
        base::fail_usage("no schedule '", word, "(...)'", base::did_you_mean(word, forms), " (there are ",
                         base::join_words(forms, ", "), ")");
    if (is_short_word(text)) return parse_short_word(text);
    return parse_sequence(text);
}

Schedule rotation_of(const std::vector<std::string>& stressors, base::Nanoseconds slot)
{
    const std::string length = base::format(slot);
    return rotation("rotation(" + base::join_words(stressors, ", ") + "; slot=" + length + ")",
                    {.items = stressors, .options = {{"slot", length}}});
}

std::string text(const FactorLevel& level)
{
    return base::factor_name(level.factor, level.level);
}

}  // namespace noisegen
