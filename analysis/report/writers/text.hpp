// SPDX-License-Identifier: Apache-2.0
// Reports as text: on the terminal, and as Markdown for the pages of CI and for wikis.
#pragma once

#include "analysis/results/findings.hpp"
#include "analysis/sections/section.hpp"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

// The text on one line, with all markup escaped.
std::string plain_markdown(std::string_view text);

// The cells have to be Markdown already.
std::string markdown_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

// Writes the answer, why it can be trusted, controls, verdicts, limits, and how to measure further.
void write_markdown(std::ostream& out, const Report& report, const Findings& found);

// Prints the report for a terminal: a few lines and a table.
void print(std::ostream& out, const Report& report, const Findings& found);

// The tidy tables of a report (columns: docs/formats.md): verdicts.csv and the tables of all sections, in the order of
// the page's links.
std::vector<Table> tables(const Report& report);

}  // namespace analysis
