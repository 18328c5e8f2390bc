// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/sweep/sweep_page.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/csv.hpp"
#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/figures.hpp"
#include "base/files.hpp"
#include "base/page/page.hpp"
#include "base/page/parts.hpp"
#include "base/page/plot.hpp"
#include "base/programs/gnuplot.hpp"
#include "base/words.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>

#include <fcntl.h>
#include <sys/file.h>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;
namespace page = base::page;

constexpr const char* history_gp =
#include "crosstalk/campaign/sweep/history.gp.inc"
    ;
constexpr const char* parallel_gp =
#include "crosstalk/campaign/sweep/parallel.gp.inc"
    ;
constexpr const char* importance_gp =
#include "crosstalk/campaign/sweep/importance.gp.inc"
    ;

struct SweepTrial {
    std::string number;
    std::string state;
    std::optional<double> value;
    std::vector<std::string> parameters;  // in the order of the spec
};

std::optional<double> number_in(const std::string& text)
try {
    if (text.empty()) return {};
    const double value = base::parse<double>(text);
    return std::isfinite(value) ? std::optional{value} : std::nullopt;
} catch (const base::UsageError&) {
    return {};
}

// The trials that count and have ended.
std::vector<SweepTrial> ended_trials(const fs::path& file, const SweepSpec& spec)
{
    const base::CsvTable table{file};
    std::vector<SweepTrial> trials;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        SweepTrial one{.number = table.text(row, "trial"),
                       .state = table.text(row, "state"),
                       .value = number_in(table.text(row, "value")),
                       .parameters = {}};
        if (table.text(row, "counts") != "yes" || one.state == "running" || one.state == "waiting") continue;
        for (const SweepParameter& parameter : spec.parameters)
            one.parameters.push_back(table.text(row, parameter.name));
        trials.push_back(std::move(one));
    }
    return trials;
}

bool is_better(const SweepSpec& spec, double one, double other)
{
    return spec.goal == "minimize" ? one < other : one > other;
}

std::vector<SweepTrial> best_first(std::vector<SweepTrial> trials, const SweepSpec& spec)
{
    std::erase_if(trials, [](const SweepTrial& one) { return one.state != "complete" || !one.value; });
    std::stable_sort(trials.begin(), trials.end(), [&](const SweepTrial& one, const SweepTrial& other) {
        return is_better(spec, *one.value, *other.value);
    });
    return trials;
}

// At least one trial has a value.
page::Plot draw_history(const fs::path& folder, const std::vector<SweepTrial>& trials, const SweepSpec& spec)
{
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    std::optional<double> best;
    {
        base::CsvWriter data{folder / "history.csv", {"trial", "state", "value", "best"}};
        for (const SweepTrial& one : trials) {
            if (!one.value) continue;
            low = std::min(low, *one.value);
            high = std::max(high, *one.value);
            if (one.state == "complete" && (!best || is_better(spec, *one.value, *best))) best = one.value;
            data.row(one.number, one.state, *one.value, best.value_or(std::numeric_limits<double>::quiet_NaN()));
        }
    }
    if (!(high > low)) high = low + 1.0;  // gnuplot refuses an axis of zero length
    base::GnuplotVariables variables;
    variables.set("low", low);
    variables.set("high", high);
    variables.set("axis", std::vector<std::string>{spec.value_line.empty() ? spec.value : "value"});
    return page::for_people(folder, {.name = "history",
                                     .title = "History",
                                     .caption = "The value of each trial, and the best one so far.",
                                     .drawn = base::draw("crosstalk", folder, "history", variables, history_gp),
                                     .data = {"history.csv"}});
}

// Position on an axis from 0 to 1, and the texts at its ends.
struct SweepAxis {
    std::string name;
    std::string low;
    std::string high;
    std::function<double(const SweepTrial&)> at;
};

SweepAxis axis_of(const SweepParameter& parameter, std::size_t index)
{
    if (!parameter.choices.empty()) {
        const std::vector<std::string> choices = parameter.choices;
        return {parameter.name, choices.front(), choices.back(), [=](const SweepTrial& trial) {
                    const auto found = std::find(choices.begin(), choices.end(), trial.parameters[index]);
                    return choices.size() < 2
                               ? 0.5
                               : static_cast<double>(found - choices.begin()) / static_cast<double>(choices.size() - 1);
                }};
    }
    const auto scaled = [log = parameter.log](double value) { return log ? std::log(value) : value; };
    const double low = scaled(parameter.low);
    const double length = scaled(parameter.high) - low;
    return {parameter.name, base::format(parameter.low), base::format(parameter.high), [=](const SweepTrial& trial) {
                const double value = number_in(trial.parameters[index]).value_or(parameter.low);
                return length > 0.0 ? (scaled(value) - low) / length : 0.5;
            }};
}

page::Plot draw_parallel(const fs::path& folder, const std::vector<SweepTrial>& best, const SweepSpec& spec)
{
    std::vector<SweepAxis> axes;
    for (std::size_t i = 0; i < spec.parameters.size(); ++i) axes.push_back(axis_of(spec.parameters[i], i));
    const auto [least, most] = std::minmax(*best.front().value, *best.back().value);
    axes.push_back({"value", base::join(least), base::join(most), [low = least, high = most](const SweepTrial& one) {
                        return high > low ? (*one.value - low) / (high - low) : 0.5;
                    }});
    {
        base::CsvWriter data{folder / "parallel.csv", {"trial", "axis", "position", "rank"}};
        for (std::size_t rank = best.size(); rank-- > 0;) {  // the best are drawn last, and lie on top
            const double share =
                best.size() < 2 ? 0.0 : static_cast<double>(rank) / static_cast<double>(best.size() - 1);
            for (std::size_t i = 0; i < axes.size(); ++i)
                data.row(best[rank].number, i + 1, axes[i].at(best[rank]), share);
            data.row("", "NaN", "NaN", "NaN");  // ends the line
        }
    }
    std::vector<std::string> names;
    std::vector<std::string> lows;
    std::vector<std::string> highs;
    for (const SweepAxis& axis : axes) {
        names.push_back(base::gnuplot_tic(axis.name));
        lows.push_back(axis.low);
        highs.push_back(axis.high);
    }
    base::GnuplotVariables variables;
    variables.set("axes", axes.size());
    variables.set("names", names);
    variables.set("lows", lows);
    variables.set("highs", highs);
    return page::for_people(folder, {.name = "parallel",
                                     .title = "Parallel coordinates",
                                     .caption = "A line is a trial; the bluer, the better.",
                                     .drawn = base::draw("crosstalk", folder, "parallel", variables, parallel_gp),
                                     .data = {"parallel.csv"}});
}

std::string importance_html(const fs::path& folder, const fs::path& table)
{
    if (!fs::exists(table)) return "";
    base::write_whole(folder / base::campaign::importance_table, base::read_whole(table));
    const base::CsvTable rows{table};
    std::vector<std::string> names;
    for (std::size_t row = 0; row < rows.rows(); ++row) names.push_back(base::gnuplot_tic(rows.text(row, "parameter")));
    if (names.empty()) return "";
    base::GnuplotVariables variables;
    variables.set("parameters", names.size());
    variables.set("names", names);
    const page::Plot plot =
        page::for_people(folder, {.name = "importance",
                                  .title = "Importance",
                                  .caption = "The share of the value's variance that a parameter explains, by Optuna.",
                                  .drawn = base::draw("crosstalk", folder, "importance", variables, importance_gp),
                                  .data = {base::campaign::importance_table}});
    return page::figure(plot, folder);
}

// Six digits of a number; sweep.csv has all of them. Other text as it is.
std::string shortened(const std::string& value)
{
    double number = 0.0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number);
    const bool has_fraction = error == std::errc{} && stop == end && value.find('.') != std::string::npos;
    return has_fraction ? base::join(number) : value;
}

std::string best_table(const std::vector<SweepTrial>& best, const SweepSpec& spec)
{
    constexpr std::size_t most_rows = 20;
    std::vector<std::string> head{"trial", "value"};
    for (const SweepParameter& one : spec.parameters) head.push_back(one.name);
    std::vector<std::vector<page::Cell>> rows;
    for (std::size_t i = 0; i < std::min(best.size(), most_rows); ++i) {
        std::vector<page::Cell>& row = rows.emplace_back();
        row.push_back(page::number(best[i].number));
        row.push_back(page::number(base::join(*best[i].value)));
        for (const std::string& value : best[i].parameters) row.push_back(page::number(shortened(value)));
    }
    return page::dense(page::plain_table(head, rows));
}

}  // namespace

void write_sweep_page(const fs::path& directory, const SweepSpec& spec, const std::string& best)
{
    const fs::path wanted = directory / base::part::report;
    const fs::path fresh = directory / "report-new";
    const fs::path lock = directory / "report.flock";  // tasks of a job array may end together
    const base::Descriptor locked =
        base::check_errno(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644), "open ", lock.string());
    ::flock(locked, LOCK_EX);
    base::remove_tree(fresh);
    base::WholeDirectory report{fresh};
    const fs::path& folder = report.path();
    const std::vector<SweepTrial> trials = ended_trials(directory / base::campaign::sweep_table, spec);
    const std::vector<SweepTrial> ordered = best_first(trials, spec);
    base::write_whole(folder / base::campaign::sweep_table, base::read_whole(directory / base::campaign::sweep_table));
    const auto count = [&](const char* state) {
        return std::count_if(trials.begin(), trials.end(), [&](const SweepTrial& one) { return one.state == state; });
    };
    const std::string headline = "Sweep " + directory.filename().string() + ": " + best;
    page::Page shown{.title = "Sweep " + directory.filename().string(),
                     .description = headline,
                     .headline = headline,
                     .subtitle = page::escape(base::join(spec.about.empty() ? "" : spec.about + " ", count("complete"),
                                                         " complete, ", count("pruned"), " pruned, ", count("failed"),
                                                         " failed of ", spec.trials, " trials; sampler ", spec.sampler,
                                                         ", pruner ", spec.pruner, "; ", spec.command))};
    if (std::any_of(trials.begin(), trials.end(), [](const SweepTrial& one) { return one.value.has_value(); }))
        shown.answer = page::figure(draw_history(folder, trials, spec), folder);
    if (!ordered.empty()) {
        shown.answer += page::figure(draw_parallel(folder, ordered, spec), folder);
        shown.evidence = {
            {"Importance", importance_html(folder, directory / base::campaign::importance_table)},
            {"Best trials", best_table(ordered, spec)},
        };
    }
    shown.foot = page::fill("<p class=\"small\">Tables: {}.</p>\n", {page::links({base::campaign::sweep_table})});
    base::write_whole(folder / "index.html", page::html_of(shown));
    report.finish();
    base::replace_directory(fresh, wanted);
}

}  // namespace crosstalk
