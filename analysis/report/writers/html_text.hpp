// SPDX-License-Identifier: Apache-2.0
// Parts of a page with explanations of words that are metrics.
#pragma once

#include "base/page/page.hpp"
#include "base/page/parts.hpp"
#include "base/page/plot.hpp"

#include <string>
#include <vector>

namespace analysis {

using base::page::badge;
using base::page::Cell;
using base::page::dense;
using base::page::escape;
using base::page::figure;
using base::page::fill;
using base::page::links;
using base::page::list;
using base::page::number;
using base::page::words;

// A table. A word of its header that is a metric has its definition as a tooltip.
std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows);

std::string plain_list(const std::vector<std::string>& items);  // a list; empty if there are no items

// Definitions of the words that are metrics, to be opened by pointer, finger or keyboard; empty if no word is one.
std::string terms(const std::vector<std::string>& words);

}  // namespace analysis
