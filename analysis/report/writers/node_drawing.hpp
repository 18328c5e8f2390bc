// SPDX-License-Identifier: Apache-2.0
// A drawing of each node: its CPUs, coloured by the program that was bound to them.
#pragma once

#include "analysis/results/node_placement.hpp"

#include <string>
#include <vector>

namespace analysis {

// HTML with an SVG for each node, up to a limit, and a legend; empty if there is no node.
std::string node_drawing(const std::vector<NodePlaces>& nodes);

}  // namespace analysis
