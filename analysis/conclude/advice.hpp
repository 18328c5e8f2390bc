// What an operator can set against each kind of noise, given what it got in the way of.
#pragma once

#include "analysis/conclude/cause.hpp"

#include <string>

namespace analysis {

// verdict: safe, unsafe, undecided. What each setting does: docs/slurm.md.
std::string advice(const std::string& stressor, Mechanism mechanism, const std::string& verdict);

}  // namespace analysis
