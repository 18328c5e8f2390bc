// SPDX-License-Identifier: Apache-2.0
// Colours of a report's noises, the same in all plots.
#pragma once

#include "analysis/results/report.hpp"
#include "base/page/palette.hpp"
#include "base/page/plot.hpp"

#include <map>
#include <string>
#include <vector>

namespace analysis {

using base::page::Colour;
using base::page::colour;
using base::page::for_people;
using base::page::phase_colour;
using base::page::Plot;

// Colours of factor_names(plan), in that order.
std::vector<Colour> colours(const Experiment& plan);
std::map<std::string, Colour> colours_by_factor(const Experiment& plan);

}  // namespace analysis
