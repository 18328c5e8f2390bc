// SPDX-License-Identifier: Apache-2.0
// A trial of soft errors, and what became of it.
#pragma once

#include "base/contract/trials.hpp"

#include <cstdint>
#include <string>

namespace analysis {

// An outcome with its class, and the trial it is of.
struct ClassedTrial {
    base::Trial trial;
    base::Outcome outcome;
    std::string strategy;  // with the model, where the report is on several
    std::string model;
    std::string what;  // its class
    // For class recovered: the first look (0, 1, 2, 4, .. steps, and the last) from which on it is as good as it has to
    // be, and the look before it, at which it is not.
    std::int64_t recovered_after = 0;
    std::int64_t worse_until = 0;
    std::string location;  // the tensor; "several" of more than one
    std::string bit;       // likewise
};

// A trial, and for how many bits it stands in a share.
struct WeightedTrial {
    const ClassedTrial* trial = nullptr;
    double weight = 1.0;
};

// Has it no guard that repairs or rolls back? Guards that only report change neither draws nor outcomes.
bool is_left_to_itself(const ClassedTrial& one);

}  // namespace analysis
