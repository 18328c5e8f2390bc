// SPDX-License-Identifier: Apache-2.0
// A drawing of each node: its CPUs, coloured by who had them.
#pragma once

#include "analysis/results/node_placement.hpp"

#include <string>
#include <vector>

namespace analysis {

// HTML with an SVG a node and a legend; empty if there is no node. Of many nodes the first ones.
std::string node_drawing(const std::vector<NodePlaces>& nodes);

}  // namespace analysis
