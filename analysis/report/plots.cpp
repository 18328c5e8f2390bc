#include "analysis/report/plots.hpp"

#include "analysis/report/numbers.hpp"
#include "analysis/report/palette.hpp"
#include "base/contract/roles.hpp"
#include "base/csv.hpp"
#include "base/files.hpp"
#include "base/gnuplot.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace analysis {

namespace {

constexpr double row_s = 60.0;  // a second is then about 17 pixels wide
constexpr int most_rows = 4;

// svg without a background, so that the report's page shows through; no markup in labels.
std::string terminal(const std::string& name, int width, int height)
{
    std::ostringstream text;
    text << "set terminal svg noenhanced size " << width << "," << height << " dynamic font 'sans-serif,13' name '"
         << name << "'\nset output '" << name << ".svg'\nset datafile separator ','\nset encoding utf8\n"
         << "set border lw 0.7\n";
    return text.str();
}

// Effects by the judged kind: those a verdict speaks of, controls included, in order of appearance.
std::vector<const Effect*> step_effects(const Report& report)
{
    std::vector<const Effect*> effects;
    for (const Effect& effect : report.analysis.effects) {
        if (effect.phase != "step" || effect.rank != all_ranks || effect.kind == Kind::interaction) continue;
        if (effect.kind == judged_kind(report.analysis.effects, effect)) effects.push_back(&effect);
    }
    return effects;
}

std::string label(const Effect& effect)
{
    return effect.level.empty() ? effect.factor : effect.factor + " " + effect.level;
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

// Step times to show in full: those of used steps, with room around them; slower ones stick to the upper edge.
Interval step_range(const Report& report)
{
    std::vector<double> used;
    const RankSteps& rank = report.run.steps.ranks.front();
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i)
        if (report.analysis.exposures.left_out[i] == LeftOut::no)
            used.push_back(static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6);
    std::sort(used.begin(), used.end());
    const auto quantile = [&](double q) {
        return used[static_cast<std::size_t>(q * static_cast<double>(used.size() - 1))];
    };
    const double low = quantile(0.005);
    const double high = quantile(0.995);
    const double room = std::max(0.15 * (high - low), 0.01 * high);
    return {low - room, high + room};
}

// The round number (1, 2 or 5 times a power of ten) next to a wanted distance of ticks.
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
    base::CsvWriter bands{folder / "timeline_bands.csv", {"begin_s", "end_s", "factor", "alone"}};
    const std::vector<Slot>& slots = report.run.slots.front();
    for (const Slot& slot : slots)
        for (const Assigned& on : slot.on)
            bands.row(fixed(axis.at(slot.begin_ns), 4), fixed(axis.at(slot.end_ns), 4), number_of(factors, on.factor),
                      slot.on.size() == 1 ? 1 : 0);
    base::CsvWriter steps{folder / "timeline_steps.csv", {"middle_s", "step_ms", "state"}};
    const RankSteps& rank = report.run.steps.ranks.front();
    for (std::size_t i = 0; i < rank.begin_ns.size(); ++i) {
        const std::int64_t middle = rank.begin_ns[i] + (rank.end_ns[i] - rank.begin_ns[i]) / 2;
        steps.row(fixed(axis.at(middle), 4), fixed(static_cast<double>(rank.end_ns[i] - rank.begin_ns[i]) / 1e6, 4),
                  state_of(report.analysis.exposures.left_out[i]));
    }
}

void write_timeline_script(const std::filesystem::path& folder, const Report& report, const TimeAxis& axis,
                           const std::vector<std::string>& factors)
{
    const int top = 54;
    const int bottom = 24;
    const int row_height = 188;
    const int height = top + bottom + axis.rows * row_height;
    const Interval range = step_range(report);
    const double lane = 0.055 * (range.high - range.low);
    const double floor = range.low - lane * (static_cast<double>(factors.size()) + 0.5);
    std::ostringstream gp;
    gp << "# Step time over time, with what noise was on. Made by interference; run again with: gnuplot timeline.gp\n"
       << terminal("timeline", 1100, height) << "set multiplot\nset lmargin at screen " << 62.0 / 1100.0
       << "\nset rmargin at screen " << 1085.0 / 1100.0 << "\nset tics nomirror out scale 0.5\nset xtics "
       << tick_for(axis.row_length_s / 14.0) << "\n"
       << "set ylabel 'step, ms' offset 1.2,1\nset yrange [" << floor << ":" << range.high << "]\n"
       << "low = " << range.low << "\nhigh = " << range.high << "\nlane = " << lane << "\n"
       << "set style fill solid 1.0 noborder\n";
    // Ticks where there are steps, not where the lanes are.
    const double tick = tick_for((range.high - range.low) / 4.0);
    gp << "set ytics " << std::ceil(range.low / tick) * tick << "," << tick << "\n";
    for (int row = 0; row < axis.rows; ++row) {
        const double upper = 1.0 - static_cast<double>(top + row * row_height) / height;
        const double lower = 1.0 - static_cast<double>(top + (row + 1) * row_height - 40) / height;
        const double begin = row * axis.row_length_s;
        gp << "set tmargin at screen " << upper << "\nset bmargin at screen " << lower << "\nset xrange [" << begin
           << ":" << begin + axis.row_length_s << "]\n";
        if (row == axis.rows - 1) gp << "set xlabel 'time, s' offset 0,0.6\n";
        gp << (row == 0 ? "set key at screen 0.5,screen 0.985 center top horizontal samplen 1.5 width 1\n"
                        : "unset key\n");
        gp << "plot ";
        for (std::size_t f = 0; f < factors.size(); ++f) {
            // Rows of another factor have no place on the x axis, so they are not drawn.
            const std::string middle = "($3 == " + std::to_string(f) + " ? ($1 + $2) / 2 : NaN)";
            const std::string middle_alone = "($3 == " + std::to_string(f) + " && $4 == 1 ? ($1 + $2) / 2 : NaN)";
            gp << "'timeline_bands.csv' skip 1 using " << middle_alone
               << ":(0):1:2:(low):(high) with boxxyerror fc rgb '#d0" << colour(f).substr(1) << "' notitle, \\\n     "
               << "'' skip 1 using " << middle << ":(0):1:2:(low - lane * " << f + 1 << "):(low - lane * "
               << static_cast<double>(f) + 0.15 << ") with boxxyerror fc rgb '" << colour(f) << "' title "
               << base::gnuplot_text(factors[f]) << ", \\\n     ";
        }
        const auto points = [&](const std::string& state, const std::string& style, const std::string& title) {
            gp << "'timeline_steps.csv' skip 1 using 1:(strcol(3) eq '" << state
               << "' ? ($2 > high ? high : $2) : NaN) with points " << style << " title '" << title << "'";
        };
        points("left_out", "pt 7 ps 0.22 lc rgb '#b0b0b0'", "step left out");
        gp << ", \\\n     ";
        points("used", "pt 7 ps 0.28 lc rgb '#606060'", "step");
        gp << ", \\\n     ";
        points("outlier", "pt 9 ps 0.5 lc rgb '#d03030'", "outlier");
        gp << "\n";
    }
    gp << "unset multiplot\n";
    base::write_whole(folder / "timeline.gp", gp.str());
}

// NaN for what has none.
double truth_of(const Verdict& verdict, base::Role role)
{
    if (role == base::Role::placebo) return 0.0;
    const std::optional<Control>& control = role == base::Role::delay ? verdict.delay : verdict.pause;
    const bool has_truth = (role == base::Role::delay || role == base::Role::pause) && control && control->connected;
    return has_truth ? control->true_percent : NAN;
}

void write_effects_plot(const std::filesystem::path& folder, const Report& report,
                        const std::vector<std::string>& factors)
{
    const std::vector<const Effect*> effects = step_effects(report);
    double low = -report.verdict.budget_percent;
    double high = report.verdict.budget_percent * 1.5;
    base::CsvWriter data{folder / "effects_step.csv",
                         {"row", "effect_percent", "low_percent", "high_percent", "true_percent", "colour"}};
    std::ostringstream labels;
    for (std::size_t e = 0; e < effects.size(); ++e) {
        const Effect& effect = *effects[e];
        const Interval interval = effect.percent.interval(report.verdict.confidence);
        const double truth = truth_of(report.verdict, effect.role);
        data.row(effects.size() - e, fixed(effect.percent.value, 5), fixed(interval.low, 5), fixed(interval.high, 5),
                 std::isnan(truth) ? std::string{"NaN"} : fixed(truth, 5),
                 "0x" + colour(number_of(factors, effect.factor)).substr(1));
        low = std::min(low, interval.low);
        high = std::max(high, interval.high);
        labels << (e == 0 ? "" : ", ") << base::gnuplot_tic(label(effect)) << " " << effects.size() - e;
    }
    const double room = 0.06 * (high - low);
    const int height = 80 + 34 * static_cast<int>(effects.size());
    std::ostringstream gp;
    gp << "# Effect of each noise on the step with its interval. Made by interference; run again with: gnuplot "
          "effects.gp\n"
       << terminal("effects", 1100, height) << "set xrange [" << low - room << ":" << high + room
       << "]\nset yrange [0.4:" << static_cast<double>(effects.size()) + 0.6 << "]\nset ytics (" << labels.str()
       << ") scale 0\nset xtics nomirror out scale 0.5\nset border 1 lw 0.7\nset lmargin 24\nset rmargin 3\nset "
          "tmargin 3\n"
       << "set xlabel 'slowdown of the step, percent of the quiet mean step'\nset grid xtics lc rgb '#a0a0a0' lw 0.4\n"
       << "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#707070' lw 1.2\n"
       << "set arrow 2 from " << report.verdict.budget_percent << ", graph 0 to " << report.verdict.budget_percent
       << ", graph 1 nohead lc rgb '#d03030' lw 1.2 dt 2\n"
       << "set label 2 'budget' at " << report.verdict.budget_percent
       << ", graph 1 center offset 0,0.7 tc rgb '#d03030'\n"
       << "unset key\n"
       << "plot 'effects_step.csv' skip 1 using 2:1:3:4:6 with xerrorbars pt 7 ps 0.9 lw 2.4 lc rgb variable, \\\n"
       << "     '' skip 1 using 5:1 with points pt 4 ps 1.3 lw 1.6 lc rgb '#808080'\n";
    base::write_whole(folder / "effects.gp", gp.str());
}

void write_phases_plot(const std::filesystem::path& folder, const Report& report,
                       const std::vector<std::string>& factors)
{
    const std::vector<const Effect*> effects = step_effects(report);
    const std::vector<std::string>& phases = report.run.steps.phases;
    double low = 0.0;
    double high = 0.0;
    base::CsvWriter data{folder / "phases_effects.csv",
                         {"panel", "row", "effect_percent", "low_percent", "high_percent"}};
    for (std::size_t e = 0; e < effects.size(); ++e) {
        for (std::size_t p = 0; p < phases.size(); ++p) {
            const Effect* effect =
                find(report.analysis.effects, effects[e]->factor, effects[e]->level, effects[e]->kind, phases[p]);
            const Interval interval = effect->percent.interval(report.verdict.confidence);
            data.row(e, phases.size() - p, fixed(effect->percent.value, 5), fixed(interval.low, 5),
                     fixed(interval.high, 5));
            low = std::min(low, interval.low);
            high = std::max(high, interval.high);
        }
    }
    const double room = std::max(0.06 * (high - low), 0.01);
    std::ostringstream labels;
    for (std::size_t p = 0; p < phases.size(); ++p)
        labels << (p == 0 ? "" : ", ") << base::gnuplot_tic(phases[p]) << " " << phases.size() - p;

    const int columns = static_cast<int>(std::min<std::size_t>(3, effects.size()));
    const int rows = (static_cast<int>(effects.size()) + columns - 1) / columns;
    const int panel_height = 76 + 22 * static_cast<int>(phases.size());
    const int height = 16 + rows * panel_height;
    const double left = 115.0 / 1100.0;
    const double width = (1.0 - left - 0.012) / columns;
    std::ostringstream gp;
    gp << "# Effect of each noise on each phase of the step. Made by interference; run again with: gnuplot phases.gp\n"
       << terminal("phases", 1100, height) << "set multiplot\nset xrange [" << low - room << ":" << high + room
       << "]\nset yrange [0.4:" << static_cast<double>(phases.size()) + 0.6
       << "]\nset border 1 lw 0.7\nset xtics nomirror out scale 0.5\nset grid xtics lc rgb '#a0a0a0' lw 0.4\nunset "
          "key\n"
       << "set arrow 1 from 0, graph 0 to 0, graph 1 nohead lc rgb '#707070' lw 1.2\n";
    for (std::size_t e = 0; e < effects.size(); ++e) {
        const int column = static_cast<int>(e) % columns;
        const int row = static_cast<int>(e) / columns;
        const double upper = 1.0 - static_cast<double>(row * panel_height + 26) / height;
        const double lower = 1.0 - static_cast<double>((row + 1) * panel_height - 40) / height;
        gp << "set lmargin at screen " << left + width * column << "\nset rmargin at screen "
           << left + width * (column + 1) - 0.018 << "\nset tmargin at screen " << upper << "\nset bmargin at screen "
           << lower << "\nset ytics (" << labels.str() << ") scale 0\n"
           << (column == 0 ? "" : "set format y ''\nset ytics format ''\n");
        if (column != 0) gp << "unset ytics\n";
        gp << "set label 1 " << base::gnuplot_text(label(*effects[e]))
           << " at graph 0, graph 1 left offset 0,0.8 tc rgb '" << colour(number_of(factors, effects[e]->factor))
           << "' font 'sans-serif,14'\n"
           << (row == rows - 1 && column == columns / 2
                   ? "set label 3 'percent of the quiet mean step' at screen 0.55, screen "
                     "0 center offset 0,0.7\n"
                   : "")
           << "plot 'phases_effects.csv' skip 1 using ($1 == " << e
           << " ? $3 : NaN):2:4:5 with xerrorbars pt 7 ps 0.6 lw 2 lc rgb '"
           << colour(number_of(factors, effects[e]->factor)) << "'\n"
           << (column == 0 ? "set format y '%h'\n" : "");
    }
    gp << "unset multiplot\n";
    base::write_whole(folder / "phases.gp", gp.str());
}

}  // namespace

std::vector<Plot> draw_plots(const std::filesystem::path& folder, const Report& report)
{
    const std::vector<std::string> factors = factor_names(report.run.plan);
    const TimeAxis axis = time_axis(report);
    write_timeline_data(folder, report, axis, factors);
    write_timeline_script(folder, report, axis, factors);
    write_effects_plot(folder, report, factors);
    write_phases_plot(folder, report, factors);
    std::vector<Plot> plots{
        {"effects", "What each noise costs",
         "Dot: estimated slowdown. Bar: its interval. Left of the dashed budget line is affordable. "
         "Grey squares: what a control truly is.",
         false},
        {"phases", "Where in the step the time goes",
         "The phases of a step add up to the step, and so do these effects.", false},
        {"timeline", "Every step, and the noise that was on",
         "Each dot is one step. "
         "Coloured stretches: noise that was on, each in its own lane; between them it was quiet. "
         "Triangles: outliers; slower steps than the axis shows stick to its upper edge.",
         false},
    };
    for (Plot& plot : plots) plot.drawn = base::run_gnuplot("interference", folder, plot.name);
    return plots;
}

}  // namespace analysis
