// SPDX-License-Identifier: Apache-2.0
// Contrasts: which treatments are compared for a factor's effect (alone, on average) or for an interaction.
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
    std::string factor;  // "mem"; for an interaction "mem*net"
    std::string level;   // "rate=4GiB/s"; for an interaction both levels, joined by *; empty without levels
    std::string stressor;
    base::Role role = base::Role::treatment;
    Kind kind = Kind::alone;
    Eigen::VectorXd weights;  // [treatment]; effect = weights . means

    // Pairs of treatments that would be equal if the factor had no effect: (with it, without it). The re-randomisation
    // test exchanges them. Empty for an interaction, whose null hypothesis does not make treatments equal.
    std::vector<std::pair<std::size_t, std::size_t>> exchangeable;
};

// alone: the factor alone against quiet; control.delay against control.sham if the design has both. Factorial designs
// add average, the factor on against off, over all settings of the other factors that have both, and the interaction of
// each two factors: how much more (or less) both together cost than the sum of each, averaged over the same settings.
std::vector<Contrast> contrasts(const Experiment& plan);

}  // namespace analysis
