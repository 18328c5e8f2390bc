// SPDX-License-Identifier: Apache-2.0
// Reports as text: on the terminal, and as Markdown for the pages of CI and for wikis.
#pragma once

#include "analysis/report/writers/content.hpp"

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
void write_markdown(std::ostream& out, const Content& content);

// Prints the report for a terminal: a few lines and a table.
void print(std::ostream& out, const Content& content);

}  // namespace analysis
