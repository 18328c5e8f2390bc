// SPDX-License-Identifier: Apache-2.0
// Contrasts: which treatments to compare for the effect of a factor, alone, on average, or in interaction.
#pragma once

#include "analysis/input/slots.hpp"

#include <Eigen/Dense>

#include <string>
#include <utility>
#include <vector>

namespace analysis {

enum class Kind { alone, average, interaction };
std::string text(Kind kind);

struct Contrast {
    std::string factor;  // "mem", of an interaction "mem*net"
    std::string level;   // "rate=4GiB/s", of an interaction both with * between, empty without levels
    std::string stressor;
    base::Role role = base::Role::treatment;
    Kind kind = Kind::alone;
    Eigen::VectorXd weights;  // [treatment]; effect = weights . means

    // Treatments that would be the same if the factor had no effect: (with it, without it). What the re-randomisation
    // test exchanges. Empty for an interaction, where no effect of the whole does not make treatments equal.
    std::vector<std::pair<std::size_t, std::size_t>> exchangeable;
};

// alone: the factor alone against quiet; control.delay against control.sham, where that is. In factorial designs
// also average: with it against without it, over all settings of the other factors that have both; and the interaction
// of each two factors: how much more (or less) both together cost than the sum of each, averaged likewise.
std::vector<Contrast> contrasts(const Experiment& plan);

}  // namespace analysis
