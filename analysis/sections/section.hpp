// SPDX-License-Identifier: Apache-2.0
// A section answers one question of a report besides its verdicts. Its folder holds the code for that answer, from
// reading to text, and ends in a card. sections.inc lists the cards in the order in which all writers visit them.
#pragma once

#include "analysis/metrics/metric.hpp"
#include "analysis/results/plots/plots.hpp"
#include "analysis/results/report.hpp"
#include "analysis/sections/noise_table.hpp"
#include "trace-tools/steps/chosen_steps.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace analysis {

// A tidy table in the report's folder. Columns: docs/formats.md.
struct Table {
    std::string file;
    void (*write)(const std::filesystem::path& file, const Report& report);
    bool of_several = false;  // also written for several pooled runs
};

// The inputs that a section may read.
struct SectionInput {
    otf2::Reader* archive;  // the training's archive; null if it is a table of steps. Each pass sets its own options
    const otf2::StepChoice& steps;
    const std::string& step_region;  // as given on the command line
    const std::string& empty_node;   // directory of a run of the noise without a training; may be empty
    double node_hour_cost = 0.0;     // 0: not given
};

// How the page of a run begins that was made for a section's question.
struct Headline {
    std::string text;  // empty: the verdict's headline is taken
    std::string plot;  // name of the plot beside the answer
};

// The card of a section. Any function may be left out.
struct Section {
    void (*read)(Report& report, const SectionInput& input) = nullptr;      // called before the run is analysed
    void (*estimate)(Report& report, const SectionInput& input) = nullptr;  // called when there is a verdict
    // Called only if the report is on a single training.
    void (*complete)(Report& report, const SectionInput& input) = nullptr;

    std::vector<Table> (*tables)(const Report& report) = nullptr;
    std::vector<MetricCard> (*metrics)() = nullptr;  // numbers that only these tables have; others: metrics/*.inc
    // The page has the `answer` right under the verdict's, `sentences` under "How much, how long, how sure", tables
    // `below` these, tables and plots "In detail".
    std::vector<std::string> (*answer)(const Report& report) = nullptr;
    Headline (*headline)(const Report& report) = nullptr;
    std::vector<std::string> (*sentences)(const Report& report) = nullptr;
    std::vector<NoiseTable> (*below)(const Report& report) = nullptr;
    std::vector<NoiseTable> (*detail)(const Report& report) = nullptr;
    std::vector<Plot> (*plots)(const std::filesystem::path& folder, const Report& report) = nullptr;
    std::vector<std::string> (*terminal)(const Report& report) = nullptr;  // lines for the terminal
    const char* markdown_title = "";
    std::vector<std::string> (*markdown)(const Report& report) = nullptr;  // items of a list

    // Add members to verdict.json, and to a noise in it.
    void (*json)(nlohmann::ordered_json& verdict, const Report& report) = nullptr;
    void (*noise_json)(nlohmann::ordered_json& noise, const Report& report, const std::string& factor) = nullptr;
};

std::span<const Section* const> sections();

struct SectionList {
    std::string title;
    std::vector<std::string> items;
};

// Texts of all sections, in their order, computed once: writers only format them.
struct SectionTexts {
    std::vector<Table> tables;
    Headline headline;
    std::vector<std::string> answer;
    std::vector<std::string> terminal;
    std::vector<SectionList> markdown;
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    std::map<std::string, nlohmann::ordered_json> noise_json;  // by factor of the verdict
};
SectionTexts section_texts(const Report& report);

// The page's part, for a single run.
struct SectionPage {
    std::vector<std::string> sentences;
    std::vector<NoiseTable> below;
    std::vector<NoiseTable> detail;
    std::vector<Plot> plots;
};
SectionPage section_page(const std::filesystem::path& folder, const Report& report);

// Reads optional data for a report: if reading fails, a note says that `what` is left out, and why.
template <class Read>
void read_or_note(Report& report, const std::string& what, const Read& read)
try {
    read();
} catch (const base::Error& error) {
    report.notes.push_back(what + " left out: " + error.what());
} catch (const std::bad_alloc&) {
    report.notes.push_back(what + " left out: reading it would exceed the memory limit");
}

}  // namespace analysis
