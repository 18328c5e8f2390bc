// SPDX-License-Identifier: Apache-2.0
// HTML building blocks of a page: text and tables. These functions escape all text from outside.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace base::page {

// Writes & < > " ' as entities and control characters as spaces.
std::string escape(std::string_view text);

// Returns the form with each {} replaced by the next part; form and parts are HTML.
std::string fill(std::string_view form, std::initializer_list<std::string_view> parts);

// A table cell in HTML; words() and number() make cells from plain text.
struct Cell {
    std::string html;
    std::string css_class;  // "number" aligns right and prevents line breaks
};
Cell words(std::string_view text, std::string css_class = "");
Cell number(std::string_view text);

// "1.23 ± 0.37" on one line; half may be empty.
std::string with_half_width(std::string_view value, std::string_view half);

// Returns the tooltip of a column head; empty if there is none.
using Explanation = std::string (*)(std::string_view head);

// A table without a head row if `head` is empty. On a narrow screen the cells of a row stand below one another, each
// next to its head.
std::string plain_table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows,
                        Explanation explanation = nullptr);

// The table in smaller letters.
std::string dense(std::string_view table);

// A list of items in plain text.
std::string list(const std::vector<std::string>& items);

// Links to files in the page's folder, separated by commas.
std::string links(const std::vector<std::string>& files);

// A coloured label for a verdict: safe, unsafe, undecided, ..
std::string badge(std::string_view verdict);

// Code with a button that copies it, if scripts run.
std::string code_to_copy(std::string_view code);

// The path of a URL; all characters but letters, digits and -_.~/ are percent-encoded.
std::string url_path(const std::filesystem::path& path);

// Improves the typography of HTML: a true minus sign before negative numbers, and no line break between a number and
// its percent sign or within options such as --exclusive. Code and drawings stay unchanged.
std::string typeset(std::string_view html);

}  // namespace base::page
