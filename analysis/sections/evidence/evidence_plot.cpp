// SPDX-License-Identifier: Apache-2.0
#include "analysis/metrics/metric.hpp"
#include "analysis/results/numbers.hpp"
#include "analysis/results/plots/palette.hpp"
#include "analysis/results/plots/step_plots.hpp"
#include "analysis/sections/evidence/evidence_section.hpp"
#include "base/contract/factor_name.hpp"
#include "base/contract/roles.hpp"
#include "base/csv.hpp"
#include "base/programs/gnuplot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace analysis {

namespace {

constexpr const char* evidence_gp =
#include "analysis/sections/evidence/evidence.gp.inc"
    ;

// Effects that verdicts are about. Known delays and pauses would dwarf them.
std::vector<const Effect*> drawn_effects(const Report& report)
{
    std::vector<const Effect*> drawn;
    for (const Effect* step : effects_on_step(report)) {
        const bool noise = step->role == base::Role::treatment || step->role == base::Role::placebo;
        if (noise && step->kind == judged_kind(report.analysis.effects, *step)) drawn.push_back(step);
    }
    return drawn;
}

double part_of(const Report& report, const Effect& step, const std::string& cause)
{
    const Effect* const part = effect_on(report, step, cause);
    return part == nullptr ? 0.0 : part->percent.value;
}

// Causes that are a hundredth of the largest slowdown or more in some effect.
std::vector<std::string> drawn_causes(const Report& report, const std::vector<const Effect*>& steps)
{
    constexpr double least_share = 0.01;
    double greatest = 0.0;
    for (const Effect* step : steps) greatest = std::max(greatest, std::abs(step->percent.value));
    std::vector<std::string> causes;
    for (const std::string& cause : report.run.evidence.names)
        if (std::any_of(steps.begin(), steps.end(), [&](const Effect* step) {
                return std::abs(part_of(report, *step, cause)) >= least_share * greatest;
            }))
            causes.push_back(cause);
    return causes;
}

// A row of the drawing: from `begin` to `end`, where its interval is drawn if it has one.
struct DrawnPart {
    std::string cause;
    double begin = 0.0;
    double end = 0.0;
    Interval interval;
};

std::vector<DrawnPart> drawn_parts(const Report& report, const Effect& step, const std::vector<std::string>& causes)
{
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<DrawnPart> parts;
    double at = 0.0;
    for (const std::string& cause : causes) {
        const Effect* const part = effect_on(report, step, cause);
        const Interval interval =
            part == nullptr ? Interval{none, none} : part->percent.interval(report.verdict.confidence);
        const double end = at + part_of(report, step, cause);
        parts.push_back({cause, at, end, {at + interval.low, at + interval.high}});
        at = end;
    }
    const double rest = unexplained_of(report, step);
    if (causes.size() < report.run.evidence.names.size()) {
        const double others = step.percent.value - rest - at;
        parts.push_back({"other causes", at, at + others, {none, none}});
        at += others;
    }
    parts.push_back({unexplained, at, step.percent.value, {none, none}});
    parts.push_back({"step", 0.0, step.percent.value, step.percent.interval(report.verdict.confidence)});
    return parts;
}

std::string shown_name(const std::string& cause)
{
    if (cause == "step") return "slower step";
    return cause == unexplained || cause == "other causes" ? cause : metric_named(cause).title;
}

}  // namespace

Plot draw_evidence(const std::filesystem::path& folder, const Report& report)
{
    const std::vector<const Effect*> steps = drawn_effects(report);
    const std::vector<std::string> causes = drawn_causes(report, steps);
    const std::map<std::string, Colour> colours = colours_by_factor(report.run.plan);
    base::CsvWriter data{
        folder / "evidence_parts.csv",
        {"panel", "row", "begin_percent", "end_percent", "low_percent", "high_percent", "name", "cause"}};
    std::vector<std::string> names;
    std::vector<std::string> of_panels;
    std::vector<std::string> row_names;
    double low = 0.0;
    double high = 0.0;
    for (std::size_t n = 0; n < steps.size(); ++n) {
        names.push_back(base::factor_name(steps[n]->factor, steps[n]->level));
        of_panels.push_back(colours.at(steps[n]->factor).light);
        const std::vector<DrawnPart> parts = drawn_parts(report, *steps[n], causes);
        row_names.clear();
        for (std::size_t p = 0; p < parts.size(); ++p) {
            const DrawnPart& part = parts[p];
            data.row(n, parts.size() - p, fixed(part.begin, 5), fixed(part.end, 5), fixed(part.interval.low, 5),
                     fixed(part.interval.high, 5), names.back(), part.cause);
            row_names.push_back(base::gnuplot_tic(shown_name(part.cause)));
            for (const double edge : {part.begin, part.end, part.interval.low, part.interval.high}) {
                if (std::isnan(edge)) continue;
                low = std::min(low, edge);
                high = std::max(high, edge);
            }
        }
    }
    base::GnuplotVariables variables;
    variables.set("noises", steps.size());
    variables.set("names", names);
    variables.set("colours", of_panels);
    variables.set("parts", row_names.size());
    variables.set("part_names", row_names);
    variables.set("left", room_for(row_names));
    variables.set("low", low);
    variables.set("high", high);
    Plot plot{.name = "evidence",
              .title = "From the quiet step to the step under each noise",
              .caption =
                  "Each bar begins where the one above it ends: causes that kept main threads from running, then what "
                  "is unexplained; the last is the slowdown. Lines: intervals.",
              .drawn = false,
              .paper_mm = 0,
              .data = {"evidence_parts.csv"}};
    plot.drawn = base::draw("interference", folder, plot.name, variables, evidence_gp);
    return for_people(folder, plot);
}

}  // namespace analysis
