// SPDX-License-Identifier: Apache-2.0
// Parts of a page in HTML: text and tables. Everything from outside is escaped here.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace base::page {

// & < > " ' as entities, control characters as spaces.
std::string escape(std::string_view text);

// The form with each {} replaced by the next part; both are HTML already.
std::string fill(std::string_view form, std::initializer_list<std::string_view> parts);

// A cell that is already HTML; plain text goes through words() or number().
struct Cell {
    std::string html;
    std::string css_class;  // "number" aligns right, and stays on one line
};
Cell words(std::string_view text, std::string css_class = "");
Cell number(std::string_view text);

// "1.23 ± 0.37" on one line; half may be empty.
std::string with_half_width(std::string_view value, std::string_view half);

// Explanation of a head that is shown where the pointer is on it; empty if there is none.
using Explanation = std::string (*)(std::string_view head);

// Without a head row if the head is empty. On a narrow screen a row's cells stand below one another, each beside its
// head.
std::string plain_table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows,
                        Explanation explanation = nullptr);

// In smaller letters.
std::string dense(std::string_view table);

// Items of a list; plain text.
std::string list(const std::vector<std::string>& items);

// Links to files beside the page, with commas between them.
std::string links(const std::vector<std::string>& files);

// A verdict: safe, unsafe, undecided, ..
std::string badge(std::string_view verdict);

// Code with a button that copies it, where scripts run.
std::string code_to_copy(std::string_view code);

// The path of a URL: all but letters, digits and -_.~/ are percent-encoded.
std::string url_path(const std::filesystem::path& path);

// HTML with a true minus sign before negative numbers, with numbers that stay on a line with their percent sign, and
// with options such as --exclusive on one line; code and drawings stay as they are.
std::string typeset(std::string_view html);

}  // namespace base::page
