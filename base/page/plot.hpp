// SPDX-License-Identifier: Apache-2.0
// A drawing of a report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace base::page {

// Marks of one colour, which a reader can leave out.
struct Lane {
    std::string name;
    std::string variable;  // of the style sheet: "--memory-0"
};

struct Plot {
    std::string name;  // "timeline": timeline.gp makes timeline.svg from its data
    std::string title;
    std::string caption;                 // how to read it
    bool drawn = false;                  // false: gnuplot is missing or failed
    int paper_mm = 80;                   // greatest height on paper; 0: only on screen
    std::vector<std::string> data = {};  // "timeline_steps.csv"
    std::vector<Lane> lanes = {};        // a plot with lanes zooms, where scripts run
};

// Gives the SVG the plot's title and caption in the place of gnuplot's code, and makes gnuplot's "labels hypertext"
// what browsers show where the pointer is, without a script. Returns the plot.
Plot for_people(const std::filesystem::path& folder, Plot plot);

// A plot with its caption, for a page in that folder.
std::string figure(const Plot& plot, const std::filesystem::path& folder);

}  // namespace base::page
