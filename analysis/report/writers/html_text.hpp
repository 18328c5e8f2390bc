// SPDX-License-Identifier: Apache-2.0
// Text and tables in HTML: everything from outside is escaped here.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace analysis {

// & < > " ' as entities, control characters as spaces.
std::string escape(std::string_view text);

// The form with each {} replaced by the next part; both are HTML already.
std::string fill(std::string_view form, std::initializer_list<std::string_view> parts);

// A cell that is already HTML; plain text goes through escape().
struct Cell {
    std::string html;
    std::string css_class;  // "number" aligns right
};
Cell words(std::string_view text, std::string css_class = "");
Cell number(std::string_view text);

// Without a head row if the head is empty. A word of the head that is a metric's is explained where the pointer is on
// it.
std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows);

// Links to files beside the page, with commas between them.
std::string links(const std::vector<std::string>& files);

// In smaller letters.
std::string dense(std::string_view table);

// As the path of a URL: everything but letters, digits and -_.~/ as %20.
std::string url_path(const std::filesystem::path& path);

// Definitions of those words that are metrics, to be opened by pointer, finger or keyboard; empty if none is one.
std::string terms(const std::vector<std::string>& words);

// HTML with a true minus sign before negative numbers, with numbers that stay on a line with their percent sign, and
// with options such as --exclusive on one line; code and drawings stay as they are.
std::string typeset(std::string_view html);

// A whole page in the report's look, of HTML. Its tables sort where scripts run, and its shape is the same where not.
// description: for those who see a link to it only.
std::string page(std::string_view title, std::string_view description, std::string_view body);

}  // namespace analysis
