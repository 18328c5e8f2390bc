#include "analysis/metrics/metric.hpp"

#include "base/error.hpp"
#include "base/words.hpp"
#include "trace-tools/replay/wait_states.hpp"

#include <algorithm>

namespace analysis {

namespace metric {

#define METRIC(card) extern const MetricCard card;
#include "analysis/metrics/metrics.inc"
#undef METRIC

}  // namespace metric

namespace {

MetricCard card_of(const replay::WaitState& state)
{
    return {.name = state.cube_name,
            .title = state.title,
            .unit = "ms of each step, mean over ranks",
            .summary = base::join(state.description, "."),
            .formula = "sum over ranks of the time in this state / ranks / steps",
            .reading = state.waits_for_another ? "Someone came late: delay_cost says who."
                                               : "No rank was late for this: it is the operation itself.",
            .better = Better::less,
            .from = "MPI calls in the training's archive, all ranks' events on one clock",
            .source = "Scalasca's patterns, Cube's names",
            .places = {{"wait_states.csv", "ms_per_step", base::join("pattern is ", state.cube_name)},
                       {"waits.csv", "seconds", base::join("pattern is ", state.cube_name, " (trace-waits)")}}};
}

std::vector<MetricCard> all_cards()
{
    std::vector<MetricCard> all{
#define METRIC(card) metric::card,
#include "analysis/metrics/metrics.inc"
#undef METRIC
    };
    for (const replay::WaitState& state : replay::wait_states) all.push_back(card_of(state));
    return all;
}

// "rank 12 ready" -> "ready"
std::string_view without_rank(std::string_view word)
{
    constexpr std::string_view rank = "rank ";
    if (!word.starts_with(rank)) return word;
    const std::size_t blank = word.find_first_not_of("0123456789", rank.size());
    return blank == std::string_view::npos || blank == rank.size() ? word : base::trim(word.substr(blank));
}

// "exchange bucket 3" -> "measure is exchange bucket N", as Place::rows has it.
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
    for (const MetricCard& card : metrics()) {
        if (card.name == name) return card;
        names.push_back(card.name);
    }
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
