// SPDX-License-Identifier: Apache-2.0
// Metrics: quantities in the report and its tables. Each has a card, which is a row in the table of its family (*.inc).
// The page takes its explanations of terms from the cards, and `interference explain` prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace analysis {

enum class Better { less, more, neither };

// Where a metric is found: a column of a table, or a member of a JSON file.
struct Place {
    std::string file;
    std::string column;
    std::string rows = {};  // rows of the table that hold it: "phase is step"; empty: all
};

struct MetricCard {
    std::string name;        // "critical_compute"
    std::string title = {};  // title on the page, if it differs from the name: "own work, slowest rank"
    std::string unit;        // "percent of the mean quiet step"
    std::string summary;     // definition, in one sentence
    std::string formula;
    std::string reading;  // how to read it
    Better better = Better::neither;
    std::string from;    // what it is computed from
    std::string source;  // who defined it, such as a publication
    std::vector<Place> places;
};

std::string text(Better better);

// Cards that sections of the report have for their own tables.
std::vector<MetricCard> metrics_of_sections();

// All cards, in the order in which they are listed. Cards of wait states come from trace-waits.
const std::vector<MetricCard>& metrics();

// Throws UsageError, with the most similar name, if there is none.
const MetricCard& metric_named(const std::string& name);

// The metric with this name or title ("own work, slowest rank"), also after a rank ("rank 0 ready"), or with this
// measure in measures.csv ("ready rank 0"); nullptr if there is none.
const MetricCard* metric_called(std::string_view word);

}  // namespace analysis
