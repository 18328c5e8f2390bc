// SPDX-License-Identifier: Apache-2.0
// Parts of a page in which words that are metrics are explained.
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

// A word of the head that is a metric's is explained where the pointer is on it.
std::string table(const std::vector<std::string>& head, const std::vector<std::vector<Cell>>& rows);

// Definitions of those words that are metrics, to be opened by pointer, finger or keyboard; empty if none is one.
std::string terms(const std::vector<std::string>& words);

}  // namespace analysis
