// SPDX-License-Identifier: Apache-2.0
// index.html: one self-contained page for a cluster operator. It has the verdict first, then why the run can be
// trusted, then detail, then what was run where.
#pragma once

#include "analysis/report/writers/content.hpp"
#include "base/page/page.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// folder: holds the SVG files of the plots, which are copied into the page.
std::string html(const Content& content, const SectionPage& page, const std::filesystem::path& folder);

// Parts that pages of one run and of several runs share.
std::vector<base::page::Trust> trust(const std::vector<Check>& checks);
std::string distrust(const Verdict& verdict);  // why the run is not trustworthy; empty if it is

// The first level of the page: the answer, the plot, a row for each noise that can be unfolded, and how to measure
// further.
std::string answer(const Content& content, const std::string& plot);

std::string noise_table(const Colours& colours, const NoiseTable& noises);
std::string coloured_name(const Colours& colours, const std::string& factor, const std::string& level);

}  // namespace analysis
