// SPDX-License-Identifier: Apache-2.0
#include "base/page/page.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/verdict_words.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/page/effects_plot.hpp"
#include "base/page/palette.hpp"
#include "base/page/parts.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/collect.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <map>

namespace crosstalk {

namespace {

using base::page::Cell;
using base::page::escape;
using base::page::fill;
using base::page::Grade;
using base::page::number;
using base::page::words;
using Rows = std::vector<std::vector<Cell>>;

constexpr const char* placebo = "placebo";

std::string training_of(const PlannedRun& run)
{
    if (run.ranks == 0) return run.model;
    return base::join(run.model, ", ", run.strategy, ", ", base::counted(static_cast<std::size_t>(run.ranks), "rank"),
                      run.options.empty() ? "" : ", ", run.options);
}

Cell link(const std::string& file, const std::string& text)
{
    return {fill(R"(<a href="{}">{}</a>)", {escape(file), text}), ""};
}

std::string range(double low, double high)
{
    return base::signed_percent(low) + " to " + base::signed_percent(high);
}

std::string effects_table(const Collection& all)
{
    Rows rows;
    for (const CollectedEffect& effect : all.effects) {
        std::array<char, 32> p{};
        std::snprintf(p.data(), p.size(), "%.3g", effect.p_holm);
        rows.push_back({words(training_of(effect.of)),
                        words(treatment_name(effect.of)),
                        number(base::signed_percent(effect.effect_percent)),
                        number(effect.interval ? range(effect.interval->low, effect.interval->high) : "one block"),
                        number(std::to_string(effect.blocks)),
                        number(p.data()),
                        {base::page::badge(effect.verdict), ""},
                        effect.comparison.empty() ? Cell{} : link(effect.comparison, "phases")});
    }
    return base::page::dense(base::page::plain_table(
        {"training", "noise", "slowdown", "95 % interval", "blocks", "p (Holm)", "verdict", ""}, rows));
}

std::string designed_table(const Collection& all)
{
    if (all.designed.empty()) return "";
    Rows rows;
    for (const DesignedEffect& one : all.designed)
        rows.push_back(
            {words(one.run.name),
             words(training_of(one.run)),
             words(one.factor),
             number(base::signed_percent(one.effect_percent)),
             number(range(one.low_percent, one.high_percent)),
             {base::page::badge(one.verdict), ""},
             words(one.trustworthy ? "yes" : "no"),
             link(std::string{"../"} + base::campaign::runs + "/" + one.run.name + "/report/index.html", "report")});
    return base::page::dense(base::page::plain_table(
        {"run", "training", "noise", "slowdown", "95 % interval", "verdict", "trustworthy", ""}, rows));
}

std::string left_out_table(const Collection& all)
{
    if (all.left_out.empty()) return "<p>Nothing: every run that was made counts.</p>\n";
    Rows rows;
    for (const LeftOut& one : all.left_out)
        rows.push_back({words(one.run.name), words(treatment_name(one.run)), number(std::to_string(one.attempt)),
                        words(one.reason)});
    return "<p>Attempts that do not count, and runs that were not made. A run whose attempt failed may count by a later "
           "one.</p>\n" +
           base::page::dense(base::page::plain_table({"run", "noise", "attempt", "reason"}, rows));
}

// "Unsafe: memory.stream; undecided: io.write", for the treatments with quiet runs in their blocks.
std::string headline(const CampaignDirectory& campaign, const Collection& all)
{
    std::vector<std::string> parts;
    for (const char* word : {base::verdict_word::unsafe, base::verdict_word::undecided, base::verdict_word::safe}) {
        std::vector<std::string> noises;
        for (const CollectedEffect& effect : all.effects)
            if (const std::string name = treatment_name(effect.of); effect.verdict == word &&
                                                                    effect.of.noise != placebo &&
                                                                    std::count(noises.begin(), noises.end(), name) == 0)
                noises.push_back(name);
        constexpr std::size_t most_named = 4;
        if (!noises.empty())
            parts.push_back(
                std::string{word} + ": " +
                (noises.size() <= most_named ? base::join_words(noises, ", ") : base::counted(noises.size(), "noise")));
    }
    if (parts.empty()) return "Campaign " + campaign.path().filename().string();
    std::string line = base::join_words(parts, "; ");
    line.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(line.front())));
    return line;
}

base::page::Trust placebo_check(const Collection& all)
{
    base::page::Trust check{"Placebo", Grade::not_tested, "Fewer than two blocks have a run with a placebo"};
    for (const CollectedEffect& effect : all.effects) {
        if (effect.of.noise != placebo || !effect.interval) continue;
        if (check.grade == Grade::not_held) break;
        check.grade = effect.interval->contains(0.0) ? Grade::held : Grade::not_held;
        check.value = "The measured effect must be zero: " + range(effect.interval->low, effect.interval->high);
    }
    return check;
}

std::vector<base::page::Trust> trust_in(const CampaignDirectory& campaign, const Collection& all)
{
    constexpr std::size_t enough_blocks = 5;  // as many as interference requires
    std::size_t blocks = all.effects.empty() ? 0 : all.effects.front().blocks;
    for (const CollectedEffect& effect : all.effects) blocks = std::min(blocks, effect.blocks);
    const bool whole = all.runs.size() == campaign.plan().size();
    std::vector<base::page::Trust> checks{
        placebo_check(all),
        {"Coverage", Grade::held, "A run counts only if noise is proven to have covered its training on every node"},
        {"Planned runs", whole ? Grade::held : Grade::not_held,
         base::join(all.runs.size(), " of ", campaign.plan().size(), " count")}};
    if (!all.effects.empty())
        checks.push_back({"Repetitions", blocks >= enough_blocks ? Grade::held : Grade::not_held,
                          "Each interval is based on " + base::counted(blocks, "block") + " or more"});
    if (!all.designed.empty())
        checks.push_back({"Designed runs",
                          std::all_of(all.designed.begin(), all.designed.end(),
                                      [](const DesignedEffect& one) { return one.trustworthy; })
                              ? Grade::held
                              : Grade::not_held,
                          "Their own controls"});
    return checks;
}

base::page::Plot draw(const std::filesystem::path& folder, const Collection& all, double budget_percent)
{
    base::page::EffectsPlot plot{.caption =
                                     "Dot: slowdown of a step. Bar: its 95 % interval, the block being the unit; "
                                     "none for a single block. Noise left of the dashed budget line is affordable.",
                                 .budget_percent = budget_percent};
    const bool several = std::any_of(all.effects.begin(), all.effects.end(), [&](const CollectedEffect& effect) {
        return training_of(effect.of) != training_of(all.effects.front().of);
    });
    std::map<std::string, std::size_t> shades;
    const auto add = [&](const std::string& name, const std::string& noise, double percent,
                         const std::optional<base::Interval>& interval) {
        const std::string family = base::page::colour(noise, 0).variable;
        plot.rows.push_back({.name = name,
                             .percent = percent,
                             .interval = interval,
                             .truth = noise == placebo ? std::optional{0.0} : std::nullopt,
                             .colour = base::page::colour(noise, shades[family]++).light});
    };
    for (const CollectedEffect& effect : all.effects)
        add(treatment_name(effect.of) + (several ? ", " + training_of(effect.of) : ""), effect.of.noise,
            effect.effect_percent, effect.interval);
    for (const DesignedEffect& one : all.designed)
        add(one.run.name + ", " + one.factor, one.factor, one.effect_percent,
            base::Interval{one.low_percent, one.high_percent});
    return base::page::draw_effects("crosstalk", folder, plot);
}

std::string answer_of(const Collection& all, const std::string& budget, const std::string& plot)
{
    const std::string measured =
        all.effects.empty() ? ""
                            : "Against the quiet runs of the same block; mean over blocks and its 95 % interval, the "
                              "block being the unit. ";
    return fill("{}{}<p class=\"small\">{}A slowdown below {} is affordable.</p>\n",
                {plot, all.effects.empty() ? "" : effects_table(all), measured, escape(budget)});
}

}  // namespace

void print_effects(std::ostream& out, const Collection& collection)
{
    for (const CollectedEffect& effect : collection.effects) {
        out << base::printable(treatment_name(effect.of)) << "  " << base::signed_percent(effect.effect_percent);
        if (effect.interval)
            out << " (" << base::signed_percent(effect.interval->low) << " to "
                << base::signed_percent(effect.interval->high) << ")";
        out << "  " << effect.verdict << ", " << base::counted(effect.blocks, "block") << ", "
            << base::printable(training_of(effect.of)) << "\n";
    }
}

void write_page(const std::filesystem::path& folder, const CampaignDirectory& campaign, const Collection& collection)
{
    const std::string name = campaign.path().filename().string();
    const Spec& spec = campaign.spec();
    const base::page::Plot plot = draw(folder, collection, base::parse<base::Percent>(spec.budget).value);
    const std::string about = spec.about.empty() ? "" : escape(spec.about) + "<br>";
    base::write_whole(
        folder / "index.html",
        base::page::html_of(
            {.title = "Campaign " + name,
             .description = headline(campaign, collection),
             .headline = headline(campaign, collection),
             .subtitle = fill("Campaign {}. {}{} of {} runs count; seed {}; on {}, begun {}",
                              {escape(name), about, base::join(collection.runs.size()),
                               base::join(campaign.plan().size()), base::join(spec.seed),
                               escape(collection.runs.front().hosts), escape(collection.runs.front().started)}),
             .trust = trust_in(campaign, collection),
             .answer = answer_of(collection, spec.budget, base::page::figure(plot, folder)),
             .evidence = {{"Designed runs", designed_table(collection)}, {"Left out", left_out_table(collection)}},
             .foot = fill("<p class=\"small\">Tables: {}.</p>\n",
                          {base::page::links({base::campaign::run_table, base::campaign::effect_table,
                                              base::campaign::designed_table, base::campaign::left_out_table})})}));
}

}  // namespace crosstalk
