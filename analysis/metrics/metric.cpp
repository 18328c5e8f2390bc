// SPDX-License-Identifier: Apache-2.0
#include "analysis/metrics/metric.hpp"

#include "base/contract/phases.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/words.hpp"
#include "trace-tools/replay/wait_states.hpp"

#include <algorithm>
#include <utility>

namespace analysis {

namespace {

MetricCard card_of(const replay::WaitState& state)
{
    return {.name = state.cube_name,
            .title = state.title,
            .unit = "ms of each step, mean over ranks",
            .summary = base::join(state.description, "."),
            .formula = "sum over ranks of the time in this state / ranks / steps",
            .reading = state.waits_for_another ? "Some rank was late: delay_cost shows which."
                                               : "No rank was late for this: it is the operation itself.",
            .better = Better::less,
            .from = "MPI calls in the training's archive, all ranks' events on one clock",
            .source = "Scalasca's patterns, Cube's names",
            .places = {{"wait_states.csv", "ms_per_step", base::join("pattern is ", state.cube_name)},
                       {"waits.csv", "seconds", base::join("pattern is ", state.cube_name, " (trace-waits)")}}};
}

MetricCard card_of(const base::PhaseCard& phase)
{
    const std::string name{phase.name};
    const std::string in_its_rows = "phase is " + name;
    return {.name = name,
            .unit = "percent of the mean quiet step",
            .summary = std::string{phase.summary},
            .formula = "like slowdown, of time in this phase; the effects on all phases add up to that on the step",
            .reading = std::string{phase.reading},
            .better = phase.part == base::PhasePart::control ? Better::neither : Better::less,
            .from = "regions directly inside `step`, or columns of a table of steps",
            .source = "docs/formats.md, steps.csv",
            .places = {{base::file::effects, "effect_percent", in_its_rows},
                       {"phases_effects.csv", "effect_percent", "row is that of " + name},
                       {"pooled.csv", "effect_percent", in_its_rows},
                       {"compare.csv", "effect_percent", in_its_rows},
                       {"phases_over_time.csv", "mean_ms", in_its_rows},
                       {base::file::steps, name + "_ns"}}};
}

std::vector<MetricCard> all_cards()
{
    std::vector<MetricCard> all;
#define METRIC(...) all.push_back(MetricCard{__VA_ARGS__});
// clang-format off
#include "analysis/metrics/step.inc"
    for (const base::PhaseCard& phase : base::phase_cards) all.push_back(card_of(phase));
#include "analysis/metrics/split.inc"
#include "analysis/metrics/evidence.inc"
#include "analysis/metrics/inference.inc"
#include "analysis/metrics/dose.inc"
#include "analysis/metrics/trace.inc"
#include "analysis/metrics/gpu.inc"
#include "analysis/metrics/coded.inc"
// clang-format on
#undef METRIC
    for (const replay::WaitState& state : replay::wait_states) all.push_back(card_of(state));
    for (MetricCard& card : metrics_of_sections()) all.push_back(std::move(card));
    return all;
}

// Removes the rank from a name: "rank 12 ready" -> "ready".
std::string_view without_rank(std::string_view word)
{
    constexpr std::string_view rank = "rank ";
    if (!word.starts_with(rank)) return word;
    const std::size_t blank = word.find_first_not_of("0123456789", rank.size());
    return blank == std::string_view::npos || blank == rank.size() ? word : base::trim(word.substr(blank));
}

// "exchange bucket 3" -> "measure is exchange bucket N", as in Place::rows.
std::string rows_of_measure(std::string_view word)
{
    const std::size_t last = word.find_last_not_of("0123456789");
    const bool numbered = last != std::string_view::npos && last + 1 < word.size() && word[last] == ' ';
    return base::join("measure is ", numbered ? word.substr(0, last + 1) : word, numbered ? "N" : "");
}

}  // namespace

std::string text(Better better)
{
    return better == Better::less ? "less" : better == Better::more ? "more" : "neither";
}

const std::vector<MetricCard>& metrics()
{
    static const std::vector<MetricCard> all = all_cards();
    return all;
}

const MetricCard& metric_named(const std::string& name)
{
    std::vector<std::string> names;
    std::vector<std::string> in_column;
    for (const MetricCard& card : metrics()) {
        if (card.name == name) return card;
        names.push_back(card.name);
        if (std::any_of(card.places.begin(), card.places.end(),
                        [&](const Place& place) { return place.column == name; }))
            in_column.push_back(card.name);
    }
    if (!in_column.empty())
        base::fail_usage("'", name, "' is a column of ", base::join_words(in_column, ", "), ": interference explain ",
                         in_column.front());
    base::fail_usage("no metric '", name, "'", base::did_you_mean(name, names), " (interference metrics shows all)");
}

const MetricCard* metric_called(std::string_view word)
{
    const std::string rows = rows_of_measure(word);
    word = without_rank(word);
    const auto found = std::find_if(metrics().begin(), metrics().end(), [&](const MetricCard& card) {
        return card.name == word || card.title == word ||
               std::any_of(card.places.begin(), card.places.end(),
                           [&](const Place& place) { return place.rows == rows; });
    });
    return word.empty() || found == metrics().end() ? nullptr : &*found;
}

}  // namespace analysis
