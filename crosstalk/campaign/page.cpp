// SPDX-License-Identifier: Apache-2.0
#include "base/contract/campaign_directory.hpp"
#include "base/figures.hpp"
#include "base/markup.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/collect.hpp"

#include <array>
#include <cstdio>
#include <sstream>

namespace crosstalk {

namespace {

constexpr const char* style = R"(<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --ground: #ffffff; --ink: #1c2430; --quiet: #5c6878; }
@media screen and (prefers-color-scheme: dark) { :root { --ground: #12161c; --ink: #e6eaf0; --quiet: #9aa6b5; } }
body { font: 16px/1.5 sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; background: var(--ground);
  color: var(--ink); overflow-wrap: anywhere }
a { color: inherit }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .8em; text-align: left; border-bottom: 1px solid #8888 }
td, th { overflow-wrap: normal } td.number { text-align: right; font-variant-numeric: tabular-nums }
@media screen and (max-width: 1000px) { thead { display: none } td, td.number { display: block; border: 0; text-align: left;
    padding: 0; overflow-wrap: anywhere }
  tr { display: block; padding: .4em 0; border-bottom: 1px solid #8888 }
  td[data-title]::before { content: attr(data-title) ": "; color: var(--quiet) } }
@media print { body { font-size: 10px; margin: 0; max-width: none } }
</style>
)";

std::string training_of(const PlannedRun& run)
{
    if (run.ranks == 0) return run.model;
    return run.model + ", " + run.strategy + ", " + base::counted(static_cast<std::size_t>(run.ranks), "rank");
}

struct PageCell {
    std::string html;
    bool is_number = false;
};
using PageRows = std::vector<std::vector<PageCell>>;

PageCell cell(const std::string& text)
{
    return {base::escape_markup(text)};
}

PageCell number_cell(const std::string& text)
{
    return {base::escape_markup(text), true};
}

PageCell link_cell(const std::string& file, const std::string& text)
{
    return {"<a href=\"" + base::escape_markup(file) + "\">" + text + "</a>"};
}

// On a phone a row's cells stand below one another, each behind its title.
void add_table(std::ostream& page, const std::vector<std::string>& head, const PageRows& rows)
{
    page << "<table><thead><tr>";
    for (const std::string& title : head) page << "<th>" << title << "</th>";
    page << "</tr></thead><tbody>\n";
    for (const std::vector<PageCell>& row : rows) {
        page << "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c) {
            page << (row[c].is_number ? "<td class=\"number\"" : "<td");
            if (!head[c].empty()) page << " data-title=\"" << head[c] << "\"";
            page << ">" << row[c].html << "</td>";
        }
        page << "</tr>\n";
    }
    page << "</tbody></table>\n";
}

void add_effects(std::ostream& page, const Collection& all, const std::string& budget)
{
    if (all.effects.empty()) return;
    page << "<h2>Slowdown of a step by noise</h2>\n<p>Relative to the quiet runs of the same block; mean over blocks "
            "with its 95 % interval (the unit is the block). A slowdown below "
         << base::escape_markup(budget) << " is within budget.</p>\n";
    PageRows rows;
    for (const CollectedEffect& effect : all.effects) {
        std::array<char, 32> p{};
        std::snprintf(p.data(), p.size(), "%.3g", effect.p_holm);
        rows.push_back({cell(training_of(effect.of)), cell(treatment_name(effect.of)),
                        number_cell(base::signed_percent(effect.effect_percent)),
                        number_cell(effect.interval ? base::signed_percent(effect.interval->low) + " to " +
                                                          base::signed_percent(effect.interval->high)
                                                    : "one block"),
                        number_cell(std::to_string(effect.blocks)), number_cell(p.data()), cell(effect.verdict),
                        effect.comparison.empty() ? PageCell{} : link_cell(effect.comparison, "phases")});
    }
    add_table(page, {"training", "noise", "slowdown", "95 % interval", "blocks", "p (Holm)", "verdict", ""}, rows);
}

void add_designed(std::ostream& page, const Collection& all)
{
    if (all.designed.empty()) return;
    page << "<h2>Designed runs</h2>\n";
    PageRows rows;
    for (const DesignedEffect& one : all.designed)
        rows.push_back(
            {cell(one.run.name), cell(training_of(one.run)), cell(one.factor),
             number_cell(base::signed_percent(one.effect_percent)),
             number_cell(base::signed_percent(one.low_percent) + " to " + base::signed_percent(one.high_percent)),
             cell(one.verdict), cell(one.trustworthy ? "yes" : "no"),
             link_cell(std::string{"../"} + base::campaign::runs + "/" + one.run.name + "/report/index.html",
                       "report")});
    add_table(page, {"run", "training", "noise", "slowdown", "95 % interval", "verdict", "trustworthy", ""}, rows);
}

void add_left_out_runs(std::ostream& page, const Collection& all)
{
    page << "<h2>Excluded</h2>\n";
    if (all.left_out.empty()) {
        page << "<p>None: every run counts.</p>\n";
        return;
    }
    page << "<p>Attempts that do not count, and missing runs. A run may count by a later attempt.</p>\n";
    PageRows rows;
    for (const LeftOut& one : all.left_out)
        rows.push_back({cell(one.run.name), cell(treatment_name(one.run)), number_cell(std::to_string(one.attempt)),
                        cell(one.reason)});
    add_table(page, {"run", "noise", "attempt", "reason"}, rows);
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

std::string page_of(const CampaignDirectory& campaign, const Collection& collection)
{
    std::ostringstream page;
    const std::string name = campaign.path().filename().string();
    page << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Campaign "
         << base::escape_markup(name) << "</title>\n"
         << style << "</head><body>\n<h1>Campaign " << base::escape_markup(name) << "</h1>\n<p>"
         << base::escape_markup(campaign.spec().about) << "</p>\n<p>" << collection.runs.size() << " of "
         << campaign.plan().size() << " runs count; seed " << campaign.spec().seed << "; on "
         << base::escape_markup(collection.runs.front().hosts) << ", begun "
         << base::escape_markup(collection.runs.front().started) << ".</p>\n";
    add_effects(page, collection, campaign.spec().budget);
    add_designed(page, collection);
    add_left_out_runs(page, collection);
    page << "<p>Tables:";
    for (const char* table : {base::campaign::run_table, base::campaign::effect_table, base::campaign::designed_table,
                              base::campaign::left_out_table})
        page << " <a href=\"" << table << "\">" << table << "</a>";
    page << "</p>\n</body></html>\n";
    return page.str();
}

}  // namespace crosstalk
