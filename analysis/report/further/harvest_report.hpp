// What the neighbour got done, and what both cost.
#pragma once

#include "analysis/report/report.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// Reads the noise's rows of the run, and of noise on an empty node where a place is named: Report::harvest.
void add_harvest(Report& report, const std::string& empty_node);

// The same of several runs, or of a run in parts, whose reports have theirs: [run][part].
void add_harvest_of_all(Report& all, const std::vector<std::vector<const Report*>>& runs);

// A sentence for each noise of which an empty node's is known, and one for each setting that was tried.
std::vector<std::string> harvest_sentences(const Report& report);

void write_harvest(const std::filesystem::path& file, const Report& report);
nlohmann::ordered_json harvest_json(const Report& report);

}  // namespace analysis
