// SPDX-License-Identifier: Apache-2.0
// Before the first trial starts, refuses trials that the training cannot make: later, a failure would be an outcome.
#pragma once

#include "base/contract/trials.hpp"
#include "ddl-workloads/models/model.hpp"

#include <cstdint>
#include <vector>

namespace ddl {

// Properties of the training that makes the trials.
struct TrialTraining {
    Model& model;
    int rank = 0;
    int ranks = 1;
    std::int64_t first_step = 0;
    bool equal = true;  // all ranks have the same state
};

// Not collective, as a tensor may exist on one rank only. Throws UsageError with the trial, what this training lacks,
// and what it has.
void check_trials(const std::vector<base::Trial>& trials, const TrialTraining& training);

}  // namespace ddl
