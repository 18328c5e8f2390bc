// SPDX-License-Identifier: Apache-2.0
// index.html: one self-contained page for a cluster operator. It has the verdict first, then why the run can be
// trusted, then detail, then what was run where.
#pragma once

#include "analysis/results/findings.hpp"
#include "analysis/results/plots/plots.hpp"
#include "analysis/results/report.hpp"
#include "analysis/sections/noise_table.hpp"
#include "base/page/page.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace analysis {

// folder: holds the SVG files of the plots, which are copied into the page.
std::string html(const Report& report, const Findings& found, const std::vector<Plot>& plots,
                 const std::filesystem::path& folder);

// Parts that pages of one run and of several runs share.
std::vector<base::page::Trust> trust(const std::vector<Check>& checks);
std::string distrust(const Verdict& verdict);  // why the run is not trustworthy; empty if it is

// The first level of the page: the answer, the plot, a row for each noise that can be unfolded, and how to measure
// further.
std::string answer(const Report& report, const Findings& found, const std::string& plot);

std::string plain_list(const std::vector<std::string>& items);  // a list; empty if there are no items
std::string noise_table(const Report& report, const NoiseTable& noises);
std::string coloured_name(const Report& report, const std::string& factor, const std::string& level);
std::string facts_table(const nlohmann::ordered_json& record);  // facts on one program: command, host, processor, ..
std::string made_by(const nlohmann::ordered_json& own_record, const std::vector<std::string>& files);

}  // namespace analysis
