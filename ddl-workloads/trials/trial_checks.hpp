// SPDX-License-Identifier: Apache-2.0
// Trials that a training cannot make are refused before the first one: once trials run, what fails would be an outcome.
#pragma once

#include "base/contract/trials.hpp"
#include "ddl-workloads/models/model.hpp"

#include <cstdint>
#include <vector>

namespace ddl {

// The training that makes the trials.
struct TrialTraining {
    Model& model;
    int rank = 0;
    int ranks = 1;
    std::int64_t first_step = 0;
    bool equal = true;  // ranks have the same state
};

// Not collective: a tensor may be on one rank alone. Throws UsageError that names the trial, what this training lacks,
// and what it has.
void check_trials(const std::vector<base::Trial>& trials, const TrialTraining& training);

}  // namespace ddl
