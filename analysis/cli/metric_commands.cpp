// SPDX-License-Identifier: Apache-2.0
#include "analysis/cli/metric_commands.hpp"

#include "analysis/metrics/metric.hpp"
#include "base/contract/run_record.hpp"
#include "base/words.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace analysis {

namespace {

using CardJson = nlohmann::ordered_json;

CardJson json_of(const MetricCard& card)
{
    CardJson places = CardJson::array();
    for (const Place& place : card.places)
        places.push_back({{"file", place.file}, {"column", place.column}, {"rows", place.rows}});
    return {
        {"name", card.name},       {"title", card.title},     {"unit", card.unit},           {"summary", card.summary},
        {"formula", card.formula}, {"reading", card.reading}, {"better", text(card.better)}, {"from", card.from},
        {"source", card.source},   {"places", places}};
}

std::string place_text(const Place& place)
{
    return place.file + ", " + place.column + (place.rows.empty() ? "" : " where " + place.rows);
}

void print(std::ostream& out, const MetricCard& card)
{
    constexpr std::size_t width = 100;
    constexpr std::size_t indent = 12;
    out << card.name << (card.title.empty() ? "" : ", on the page: " + card.title) << "\n"
        << base::wrapped(card.summary, 2, width) << "\n";
    const auto line = [&](std::string word, const std::string& text) {
        word.resize(indent - 2, ' ');
        out << "  " << word << base::wrapped(text, indent, width).substr(indent);
    };
    line("unit", card.unit);
    line("better", text(card.better));
    line("formula", card.formula);
    line("reading", card.reading);
    line("from", card.from);
    line("source", card.source);
    for (std::size_t p = 0; p < card.places.size(); ++p) line(p == 0 ? "in files" : "", place_text(card.places[p]));
}

}  // namespace

ListMetrics::ListMetrics() : Command{"interference metrics", "lists the metrics of reports and tables"}
{
    options.add_switch("json", json_, "print their full descriptions as JSON");
    options.example("interference metrics");
}

int ListMetrics::run()
{
    if (json_) {
        CardJson all = CardJson::array();
        for (const MetricCard& card : metrics()) all.push_back(json_of(card));
        std::cout << CardJson{{"format", base::format_version}, {"metrics", all}}.dump(2) << "\n";
    } else {
        for (const MetricCard& card : metrics()) {
            std::string name = card.name;
            name.resize(std::max<std::size_t>(name.size() + 1, 26), ' ');
            std::cout << name << card.summary << " (" << card.unit << ")\n";
        }
    }
    base::flush_stdout();
    return base::exit_fine;
}

ExplainMetric::ExplainMetric()
    : Command{"interference explain",
              "explains a metric: definition, formula, how to read it, and the files that have it"}
{
    options.add_positional("METRIC", name_, "its name in interference metrics, in the report or in measures.csv");
    options.add_switch("json", json_, "print it as JSON");
    base::PlugInWords words;
    for (const MetricCard& card : metrics()) words.options[card.name] = {};
    options.plug_ins("METRIC", words);
    options.example("interference explain slowdown");
}

int ExplainMetric::run()
{
    const MetricCard* called = metric_called(name_);
    const MetricCard& card = called != nullptr ? *called : metric_named(name_);
    if (json_)
        std::cout << json_of(card).dump(2) << "\n";
    else
        print(std::cout, card);
    base::flush_stdout();
    return base::exit_fine;
}

}  // namespace analysis
