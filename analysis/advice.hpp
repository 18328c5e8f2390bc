// What an operator can set for each kind of noise. Source: reference/slurm.md section 5.
#pragma once

#include <string>

namespace analysis {

// verdict: safe, unsafe, undecided.
std::string advice(const std::string& stressor, const std::string& verdict);

}  // namespace analysis
