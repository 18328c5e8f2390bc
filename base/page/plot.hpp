// SPDX-License-Identifier: Apache-2.0
// A plot in a report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace base::page {

// The marks of one colour in a plot; a reader can hide them.
struct Lane {
    std::string name;
    std::string variable;  // variable in the style sheet: "--memory-0"
};

struct Plot {
    std::string name;  // "timeline": timeline.gp makes timeline.svg from the data files
    std::string title;
    std::string caption;                 // how to read it
    bool drawn = false;                  // false: gnuplot is missing or failed
    int paper_mm = 80;                   // largest height on paper; 0: only on screen
    std::vector<std::string> data = {};  // names of the data files: "timeline_steps.csv"
    std::vector<Lane> lanes = {};        // a plot with lanes can be zoomed, if scripts run
};

// Sets the title and caption of the SVG in place of gnuplot's defaults, and turns gnuplot's "labels hypertext" into
// tooltips that browsers show without a script. Returns the plot.
Plot for_people(const std::filesystem::path& folder, Plot plot);

// HTML of a plot with its caption, for a page in that folder.
std::string figure(const Plot& plot, const std::filesystem::path& folder);

}  // namespace base::page
