// SPDX-License-Identifier: Apache-2.0
// Metrics: what the report and its tables show. Each has a card, a row in the table of its family (*.inc); the page
// explains its terms, and `interference explain` all of them, from these cards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace analysis {

enum class Better { less, more, neither };

// Where a metric stands: a column of a table, or a member of a JSON.
struct Place {
    std::string file;
    std::string column;
    std::string rows = {};  // in which of its rows: "phase is step"; empty: in all
};

struct MetricCard {
    std::string name;        // "critical_compute"
    std::string title = {};  // as the page has it, where that is another: "own work, slowest rank"
    std::string unit;        // "percent of the quiet mean step"
    std::string summary;     // what it is, a sentence
    std::string formula;
    std::string reading;  // how to read it
    Better better = Better::neither;
    std::string from;    // what it is computed from
    std::string source;  // who defined it
    std::vector<Place> places;
};

std::string text(Better better);

// All, in the order in which they are listed; those of wait states are trace-waits' own.
const std::vector<MetricCard>& metrics();

// Throws UsageError, with the right word, if there is none.
const MetricCard& metric_named(const std::string& name);

// The one whose name or title this is ("own work, slowest rank"), also behind a rank ("rank 0 ready"), or whose measure
// of measures.csv ("ready rank 0"); nullptr if there is none.
const MetricCard* metric_called(std::string_view word);

}  // namespace analysis
