// SPDX-License-Identifier: Apache-2.0
// Reports as text: on the terminal, and as Markdown for the pages of CI and for wikis.
#pragma once

#include "analysis/results/report.hpp"
#include "analysis/sections/section.hpp"

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

// Text in which nothing is markup, on one line.
std::string plain_markdown(std::string_view text);

// A cell is Markdown already.
std::string markdown_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);

// The answer, why it may be trusted, controls, verdicts, limits, how to measure on. scope: what the intervals cover.
void write_markdown(std::ostream& out, const Report& report, const std::string& scope);

// On the terminal: a few lines and a table.
void print(std::ostream& out, const Report& report);

// The tidy tables of a report (columns: docs/formats.md): verdicts.csv and those of all sections, in the order in which
// the page links to them.
std::vector<Table> tables(const Report& report);

}  // namespace analysis
