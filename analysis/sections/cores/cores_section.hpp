// SPDX-License-Identifier: Apache-2.0
// Sentences about the number of cores that the job needs.
#pragma once

#include "analysis/results/report.hpp"

#include <string>
#include <vector>

namespace analysis {

// The number and its settings. Empty without noise that takes cores from the job.
std::vector<std::string> cores_sentences(const Report& report);

}  // namespace analysis
