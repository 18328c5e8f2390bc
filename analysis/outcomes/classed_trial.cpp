// SPDX-License-Identifier: Apache-2.0
#include "analysis/outcomes/classed_trial.hpp"

namespace analysis {

bool is_left_to_itself(const ClassedTrial& one)
{
    const std::size_t colon = one.trial.guard.find(':');
    return colon == std::string::npos || one.trial.guard.substr(colon) == ":report";
}

}  // namespace analysis
