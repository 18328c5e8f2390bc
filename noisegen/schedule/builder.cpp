// SPDX-License-Identifier: Apache-2.0
#include "noisegen/schedule/builder.hpp"

#include "noisegen/stressors/registry.hpp"

#include <algorithm>

namespace noisegen {

namespace {

using Options = std::map<std::string, std::string>;

std::string label_of(const base::PlugInText& plug_in)
{
    std::string label = plug_in.label.empty() ? plug_in.name : plug_in.label;
    if (label == "quiet") base::fail_usage("the label quiet is reserved for slots without noise");
    return label;
}

// The option that lists levels, as in rate=4GiB/s|8GiB/s; empty if there is none. `taken` is an option that already
// lists levels, so a second one is an error.
std::string option_with_levels(const base::PlugInText& plug_in, const std::string& taken = {})
{
    std::string with_levels = taken;
    for (const auto& [name, value] : plug_in.options) {
        if (value.find('|') == std::string::npos) continue;
        if (!with_levels.empty())
            base::fail_usage(plug_in.name, " has levels in ", std::min(with_levels, name), " and in ",
                             std::max(with_levels, name), "; only one option may have levels");
        with_levels = name;
    }
    return with_levels;
}

void check_once(std::set<std::string>& seen, const std::string& stressor, const std::string& level)
{
    if (!seen.insert(level).second) base::fail_usage(stressor, " has the level ", level, " twice");
}

// Options by name of the level, such as "rate=4GiB/s"; a single entry with an empty name if no option lists levels.
std::vector<std::pair<std::string, Options>> levels_of(const base::PlugInText& plug_in)
{
    const std::string with_levels = option_with_levels(plug_in);
    if (with_levels.empty()) return {{"", plug_in.options}};
    std::vector<std::pair<std::string, Options>> levels;
    std::set<std::string> seen;
    for (const std::string& value : base::split(plug_in.options.at(with_levels), '|')) {
        if (value.empty()) base::fail_usage(plug_in.name, "[", with_levels, "] has an empty level");
        std::string level = base::join(with_levels, "=", value);
        check_once(seen, plug_in.name, level);
        Options options = plug_in.options;
        options[with_levels] = value;
        levels.emplace_back(std::move(level), std::move(options));
    }
    return levels;
}

}  // namespace

ScheduleBuilder::ScheduleBuilder(Schedule::Design design, std::string_view text)
{
    schedule_.text = base::trim(text);
    schedule_.design = design;
}

std::vector<Treatment> ScheduleBuilder::factor(const base::PlugInText& plug_in, bool may_have_levels)
{
    const StressorCard& card = stressors().find(plug_in.name);
    if (card.name == "quiet") {
        if (!plug_in.label.empty() || !plug_in.options.empty()) base::fail_usage("quiet takes no label and no options");
        return {{}};
    }
    const std::string label = label_of(plug_in);
    std::vector<Treatment> levels;
    for (const auto& [level, options] : levels_of(plug_in)) levels.push_back({index_of(label, level, card, options)});
    if (levels.size() > 1 && !may_have_levels)
        base::fail_usage("'", label, "' has levels, which only rotation(...) and factorial(...) allow");
    return levels;
}

std::vector<Treatment> ScheduleBuilder::new_factor(const base::PlugInText& plug_in, bool may_have_levels)
{
    const std::string label = plug_in.label.empty() ? plug_in.name : plug_in.label;
    if (!labels_.insert(label).second)
        base::fail_usage("two factors are called '", label, "'; give them labels: a=", plug_in.name,
                         ", b=", plug_in.name);
    return factor(plug_in, may_have_levels);
}

std::vector<Treatment> ScheduleBuilder::factor_at(const base::PlugInText& plug_in, const std::vector<base::Rate>& rates)
{
    const StressorCard& card = stressors().find(plug_in.name);
    const std::string label = label_of(plug_in);
    option_with_levels(plug_in, "rate");
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const base::Rate rate : rates) {
        names.push_back("rate=" + base::format(rate));
        check_once(seen, plug_in.name, names.back());
    }
    if (rates.size() == 1) names = {""};  // a single level has no name
    std::vector<Treatment> levels;
    for (std::size_t i = 0; i < rates.size(); ++i)
        levels.push_back({index_of(label, names[i], card, plug_in.options, rates[i])});
    return levels;
}

bool ScheduleBuilder::runs_on_cpus(const Treatment& treatment) const
{
    const FactorLevel& first = schedule_.levels.at(treatment.at(0));
    return schedule_.stressors[first.stressor].card->cpus != StressorCard::Cpus::none;
}

Schedule ScheduleBuilder::finish(decltype(Schedule::order) order)
{
    if (schedule_.design != Schedule::Design::sequence) check_controls();
    if (schedule_.design == Schedule::Design::factorial)
        for (const FactorLevel& level : schedule_.levels)
            if (level.intensity.limit)
                base::fail_usage(text(level), ": a limit applies to all active stressors; use rotation(...)");
    schedule_.order = std::move(order);
    return std::move(schedule_);
}

void ScheduleBuilder::check_controls() const
{
    const auto has = [this](base::Role role) {
        return std::ranges::any_of(schedule_.stressors,
                                   [role](const Configured& stressor) { return stressor.card->role == role; });
    };
    if (has(base::Role::delay) != has(base::Role::sham))
        base::fail_usage(
            "control.delay and control.sham need each other (the sham has the barriers without the delay); '",
            schedule_.text, "' has only one");
}

std::size_t ScheduleBuilder::index_of(const std::string& label, const std::string& value, const StressorCard& card,
                                      const Options& options, std::optional<base::Rate> rate)
{
    const base::Settings settings = stressors().settings(card, options);
    card.needs(settings);
    FactorLevel level{.factor = label,
                      .level = value,
                      .stressor = stressor(label, card, options),
                      .intensity = intensity(card, settings, rate)};
    for (std::size_t i = 0; i < schedule_.levels.size(); ++i) {
        const FactorLevel& known = schedule_.levels[i];
        if (known.factor != label || known.level != value) continue;
        if (known.stressor == level.stressor && known.intensity == level.intensity) return i;
        base::fail_usage("'", label, "' names two different stressors; give one another label: other=", card.name);
    }
    schedule_.levels.push_back(std::move(level));
    return schedule_.levels.size() - 1;
}

// In a factorial two factors may be on together, each on CPUs of its own, so they do not share a stressor.
std::size_t ScheduleBuilder::stressor(const std::string& label, const StressorCard& card, Options options)
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

}  // namespace noisegen
