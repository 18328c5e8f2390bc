// SPDX-License-Identifier: Apache-2.0
#include "analysis/results/plots/plots.hpp"

#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/plots/step_plots.hpp"
#include "base/columns/long_order.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/roles.hpp"
#include "base/csv.hpp"
#include "base/page/effects_plot.hpp"
#include "base/programs/gnuplot.hpp"

#include <algorithm>
#include <cmath>

namespace analysis {

namespace {

constexpr const char* aligned_gp =
#include "analysis/results/plots/aligned.gp.inc"
    ;
constexpr const char* phases_gp =
#include "analysis/results/plots/phases.gp.inc"
    ;
constexpr const char* timeline_gp =
#include "analysis/results/plots/timeline.gp.inc"
    ;

constexpr double row_s = 60.0;  // seconds per row; a second is then about 17 pixels wide
constexpr int most_rows = 4;
constexpr std::size_t most_slots_to_point_at = 1500;  // the page grows by 300 bytes for each

// Effects with a verdict, controls included, of the kind by which they are judged, in order of appearance.
std::vector<const Effect*> step_effects(const Report& report)
{
    std::vector<const Effect*> effects;
    for (const Effect& effect : of(report.analysis.effects, Family::step)) {
        if (effect.phase != "step" || effect.rank != all_ranks || effect.kind == Kind::interaction) continue;
        if (effect.kind == judged_kind(report.analysis.effects, effect)) effects.push_back(&effect);
    }
    return effects;
}

std::size_t number_of(const std::vector<std::string>& names, const std::string& name)
{
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

struct TimeAxis {
    std::int64_t zero_ns = 0;
    double length_s = 0.0;
    int rows = 1;
    double row_length_s = 0.0;
    double at(std::int64_t ns) const { return static_cast<double>(ns - zero_ns) / 1e9; }
};

// Stride of the shown steps: 1, or more for long runs.
std::size_t every_so_many(std::size_t steps)
{
    constexpr std::size_t most_shown = 50'000;  // steps; each adds 100 bytes to the page
    return 1 + (steps - 1) / most_shown;
}

TimeAxis time_axis(const Report& report)
{
    const std::vector<Slot>& slots = report.run.slots.front();
    const RankSteps& rank = report.run.steps.ranks.front();
    TimeAxis axis;
    axis.zero_ns = std::min(slots.front().begin_ns, rank.begin_ns.front());
    axis.length_s = static_cast<double>(std::max(slots.back().end_ns, rank.end_ns.back()) - axis.zero_ns) / 1e9;
    axis.rows = std::clamp(static_cast<int>(std::ceil(axis.length_s / row_s)), 1, most_rows);
    axis.row_length_s = std::ceil(axis.length_s / axis.rows);
    return axis;
}

// Range of step times to show: those of used steps with a margin. Slower steps are drawn at the upper edge.
Interval step_range(const Report& report)
{
    base::LongColumn<double> used;
    const RankSteps& rank = report.run.steps.ranks.front();
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        if (reason_of(report, i) == LeftOut::no)
            used.push_back(static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6);
    const auto quantile = [&](double q) {
        return base::nth_value(used, 0, used.size(),
                               static_cast<std::size_t>(q * static_cast<double>(used.size() - 1)));
    };
    const double low = quantile(0.005);
    const double high = quantile(0.995);
    const double room = std::max(0.15 * (high - low), 0.01 * high);
    return {low - room, high + room};
}

// The round number (1, 2 or 5 times a power of ten) next to the wanted distance of ticks.
double tick_for(double wanted)
{
    const double power = std::pow(10.0, std::floor(std::log10(wanted)));
    const double ratio = wanted / power;
    return power * (ratio < 1.5 ? 1.0 : ratio < 3.5 ? 2.0 : ratio < 7.5 ? 5.0 : 10.0);
}

std::string state_of(LeftOut reason)
{
    if (reason == LeftOut::no) return "used";
    return reason == LeftOut::outlier ? "outlier" : "left_out";
}

void write_timeline_data(const std::filesystem::path& folder, const Report& report, const TimeAxis& axis,
                         const std::vector<std::string>& factors)
{
    base::CsvWriter bands{folder / "timeline_bands.csv", {"begin_s", "end_s", "factor", "alone", "name"}};
    const std::vector<Slot>& slots = report.run.slots.front();
    for (const Slot& slot : slots)
        for (const Assigned& on : slot.on)
            bands.row(fixed(axis.at(slot.begin_ns), 4), fixed(axis.at(slot.end_ns), 4), number_of(factors, on.factor),
                      slot.on.size() == 1 ? 1 : 0, base::factor_name(on.factor, on.level));
    base::CsvWriter steps{folder / "timeline_steps.csv", {"middle_s", "step_ms", "state"}};
    const RankSteps& rank = report.run.steps.ranks.front();
    for (std::size_t i = 0; i < rank.begin_ns.size(); i += every_so_many(rank.begin_ns.size())) {
        const std::int64_t middle = rank.begin_ns[i] + (rank.end_ns[i] - rank.begin_ns[i]) / 2;
        steps.row(fixed(axis.at(middle), 4), fixed(static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6, 4),
                  state_of(reason_of(report, i)));
    }
}

// Colours for the plots' files.
std::vector<std::string> light_colours(const Report& report)
{
    std::vector<std::string> all;
    for (const Colour& one : colours(report.run.plan)) all.push_back(one.light);
    return all;
}

bool draw_timeline(const std::filesystem::path& folder, const Report& report, const std::vector<std::string>& factors)
{
    const TimeAxis axis = time_axis(report);
    write_timeline_data(folder, report, axis, factors);
    const Interval range = step_range(report);
    base::GnuplotVariables variables;
    variables.set("rows", axis.rows);
    variables.set("row_s", axis.row_length_s);
    variables.set("xtick", tick_for(axis.row_length_s / 14.0));
    variables.set("low", range.low);
    variables.set("high", range.high);
    variables.set("lane", 0.055 * (range.high - range.low));
    variables.set("ytick", tick_for((range.high - range.low) / 4.0));
    variables.set("noises", factors.size());
    variables.set("names", factors);
    variables.set("colours", light_colours(report));
    variables.set("hover", report.run.slots.front().size() <= most_slots_to_point_at ? 1 : 0);
    return base::draw("interference", folder, "timeline", variables, timeline_gp);
}

std::optional<double> truth_of(const Verdict& verdict, base::Role role)
{
    if (role == base::Role::placebo) return 0.0;
    const std::optional<Control>& control = role == base::Role::delay ? verdict.delay : verdict.pause;
    const bool has_truth = (role == base::Role::delay || role == base::Role::pause) && control && control->connected;
    return has_truth ? std::optional{control->true_percent} : std::nullopt;
}

constexpr const char* effects_caption =
    "Dot: estimated slowdown. Bar: its interval. Noise left of the dashed budget line is affordable. Grey squares: "
    "true values of the controls.";

bool draw_phases(const std::filesystem::path& folder, const Report& report, const std::vector<std::string>& factors)
{
    const std::vector<const Effect*> effects = step_effects(report);
    const std::vector<std::string>& phases = report.run.steps.phases;
    double low = 0.0;
    double high = 0.0;
    base::CsvWriter data{folder / "phases_effects.csv",
                         {"panel", "row", "effect_percent", "low_percent", "high_percent", "name", "phase"}};
    std::vector<std::string> names;
    const std::vector<std::string> light = light_colours(report);
    std::vector<std::string> of_panels;
    for (std::size_t e = 0; e < effects.size(); ++e) {
        names.push_back(base::factor_name(effects[e]->factor, effects[e]->level));
        of_panels.push_back(light[number_of(factors, effects[e]->factor)]);
        for (std::size_t p = 0; p < phases.size(); ++p) {
            const Effect* effect =
                find(report.analysis.effects, effects[e]->factor, effects[e]->level, effects[e]->kind, phases[p]);
            const Interval interval = effect->percent.interval(report.verdict.confidence);
            data.row(e, phases.size() - p, fixed(effect->percent.value, 5), fixed(interval.low, 5),
                     fixed(interval.high, 5), names.back(), phases[p]);
            low = std::min(low, interval.low);
            high = std::max(high, interval.high);
        }
    }
    std::vector<std::string> phase_names;
    for (const std::string& phase : phases) phase_names.push_back(base::gnuplot_tic(phase));
    base::GnuplotVariables variables;
    variables.set("noises", effects.size());
    variables.set("names", names);
    variables.set("colours", of_panels);
    variables.set("phases", phases.size());
    variables.set("phase_names", phase_names);
    variables.set("left", room_for(phases));
    variables.set("low", low);
    variables.set("high", high);
    return base::draw("interference", folder, "phases", variables, phases_gp);
}

Plot draw_aligned(const std::filesystem::path& folder, std::size_t steps)
{
    base::GnuplotVariables variables;
    variables.set("stride", every_so_many(2 * steps));  // points of both sets
    return for_people(folder, {"aligned",
                               "Steps aligned by number",
                               "Each dot is one step, averaged over the runs of its set.",
                               base::draw("interference", folder, "aligned", variables, aligned_gp),
                               80,
                               {"aligned_steps.csv"}});
}

}  // namespace

Plot draw_effects(const std::filesystem::path& folder, const Report& report)
{
    const std::vector<std::string> factors = factor_names(report.run.plan);
    const std::vector<std::string> light = light_colours(report);
    base::page::EffectsPlot plot{.caption = effects_caption, .budget_percent = report.verdict.budget_percent};
    for (const Effect* effect : step_effects(report))
        plot.rows.push_back({.name = base::factor_name(effect->factor, effect->level),
                             .percent = effect->percent.value,
                             .interval = effect->percent.interval(report.verdict.confidence),
                             .truth = truth_of(report.verdict, effect->role),
                             .colour = light[number_of(factors, effect->factor)]});
    return base::page::draw_effects("interference", folder, plot);
}

std::vector<Plot> draw_effects_and_phases(const std::filesystem::path& folder, const Report& report)
{
    const std::vector<std::string> factors = factor_names(report.run.plan);
    return {
        draw_effects(folder, report),
        for_people(folder, {"phases",
                            "Where in the step the time goes",
                            "The effects on phases add up to the effect on the step.",
                            draw_phases(folder, report, factors),
                            0,
                            {"phases_effects.csv"}}),
    };
}

std::vector<Plot> draw_steps(const std::filesystem::path& folder, const Report& report)
{
    const std::vector<std::string> factors = factor_names(report.run.plan);
    Plot timeline{.name = "timeline",
                  .title = "Every step, and the noise that was on",
                  .caption =
                      "Each dot is one step. Coloured stretches: noise that was on, each in its own lane; between "
                      "them it was quiet. Triangles: outliers; slower steps than the axis shows stick to its "
                      "upper edge.",
                  .drawn = draw_timeline(folder, report, factors),
                  .paper_mm = 72,
                  .data = {"timeline_steps.csv", "timeline_bands.csv"}};
    const std::vector<Colour> of_factors = colours(report.run.plan);
    for (std::size_t n = 0; n < factors.size(); ++n) timeline.lanes.push_back({factors[n], of_factors[n].variable});
    return {
        for_people(folder, timeline),
        draw_heat_map(folder, {{"", &report.run.steps}}),
        draw_phases_over_time(folder, {{"", &report.run.steps}}),
    };
}

std::vector<Plot> draw_comparison(const std::filesystem::path& folder, const Comparison& comparison,
                                  double budget_percent)
{
    base::page::EffectsPlot plot{.caption =
                                     "Dot: the noisy runs against the quiet ones, of the step and of each phase. Bar: "
                                     "its interval. Noise left of the dashed budget line is affordable.",
                                 .budget_percent = budget_percent};
    for (const PhaseComparison& phase : comparison.phases)
        plot.rows.push_back({.name = phase.phase,
                             .percent = phase.percent,
                             .interval = phase.interval,
                             .colour = phase.phase == "step" ? "#c96a00" : "#0072b2"});
    return {base::page::draw_effects("interference", folder, plot), draw_aligned(folder, comparison.numbers.size())};
}

}  // namespace analysis
