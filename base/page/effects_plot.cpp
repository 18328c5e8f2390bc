// SPDX-License-Identifier: Apache-2.0
#include "base/page/effects_plot.hpp"

#include "base/csv.hpp"
#include "base/figures.hpp"
#include "base/programs/gnuplot.hpp"

#include <algorithm>

namespace base::page {

namespace {

constexpr const char* effects_gp =
#include "base/page/effects.gp.inc"
    ;

std::string cell_of(const std::optional<double>& value)
{
    return value ? fixed(*value, 5) : "NaN";
}

}  // namespace

Plot draw_effects(const std::string& program, const std::filesystem::path& folder, const EffectsPlot& effects)
{
    const std::vector<EffectRow>& rows = effects.rows;
    double low = -effects.budget_percent.value_or(0.0);
    double high = effects.budget_percent.value_or(0.0) * 1.5;
    CsvWriter data{folder / "effects_step.csv",
                   {"row", "effect_percent", "low_percent", "high_percent", "true_percent", "colour", "name"}};
    std::vector<std::string> names;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        const EffectRow& row = rows[r];
        const Interval shown = row.interval.value_or(Interval{row.percent, row.percent});
        data.row(rows.size() - r, fixed(row.percent, 5), fixed(shown.low, 5), fixed(shown.high, 5), cell_of(row.truth),
                 "0x" + row.colour.substr(1), row.name);
        low = std::min(low, shown.low);
        high = std::max(high, shown.high);
        names.push_back(gnuplot_tic(row.name));
    }
    if (high - low < 1e-6) high = low + 1.0;  // gnuplot refuses an axis of zero length
    GnuplotVariables variables;
    variables.set("noises", rows.size());
    variables.set("names", names);
    variables.set("has_budget", effects.budget_percent ? 1 : 0);
    variables.set("budget", effects.budget_percent.value_or(0.0));
    variables.set("has_truths",
                  std::ranges::any_of(rows, [](const EffectRow& row) { return row.truth.has_value(); }) ? 1 : 0);
    variables.set("low", low);
    variables.set("high", high);
    variables.set("axis", std::vector<std::string>{effects.axis});
    return for_people(folder, {.name = "effects",
                               .title = "What each noise costs",
                               .caption = effects.caption,
                               .drawn = draw(program, folder, "effects", variables, effects_gp),
                               .paper_mm = 60,
                               .data = {"effects_step.csv"}});
}

}  // namespace base::page
