// SPDX-License-Identifier: Apache-2.0
// A soft-error trial with its outcome.
#pragma once

#include "base/contract/trials.hpp"

#include <cstdint>
#include <string>

namespace analysis {

// A trial, its outcome, and the outcome's class.
struct ClassedTrial {
    base::Trial trial;
    base::Outcome outcome;
    std::string strategy;  // with the model in its name, where the report has several models
    std::string model;
    std::string what;  // the outcome's class
    // For class recovered. The accuracy is measured after 0, 1, 2, 4, .. steps and the last. recovered_after: the first
    // of these from which on the training is as good as required; worse_until: the one before, when it is not.
    std::int64_t recovered_after = 0;
    std::int64_t worse_until = 0;
    std::string location;  // the tensor; "several" for more than one
    std::string bit;       // the bit; "several" for more than one
};

// A trial, and the number of bits that it represents in a share.
struct WeightedTrial {
    const ClassedTrial* trial = nullptr;
    double weight = 1.0;
};

// True if the trial has no guard that repairs or rolls back. Guards that only report change neither draw nor outcome.
inline bool is_left_to_itself(const ClassedTrial& one)
{
    const std::size_t colon = one.trial.guard.find(':');
    return colon == std::string::npos || one.trial.guard.substr(colon) == ":report";
}

}  // namespace analysis
