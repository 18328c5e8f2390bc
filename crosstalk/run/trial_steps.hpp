// SPDX-License-Identifier: Apache-2.0
// The steps of a job without noise, and what they predict for a run with noise.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace crosstalk {

// Steps from a table with rank, step, begin_ns, end_ns and <phase>_ns for each phase.
struct TriedSteps {
    std::size_t ranks = 0;
    std::vector<std::int64_t> begin_ns;  // rank 0's steps, in order
    std::vector<std::int64_t> length_ns;
    std::vector<std::pair<std::string, double>> phases;  // share of the time of rank 0's steps after the warm-up
};
TriedSteps read_tried_steps(const std::filesystem::path& table);

// Number of warm-up steps as in interference's analyses, or half of the steps if there are few.
std::size_t warm_up_of(const TriedSteps& steps);

double mean_ms(const TriedSteps& steps);
double median_ms(const TriedSteps& steps, double from_share = 0.0,
                 double to_share = 1.0);  // shares refer to the steps after the warm-up

// Number of consecutive steps after which lengths repeat, as with several collectives in one step of a job: the
// smallest number, up to 12, whose sums vary by less than half as much as those of independent steps. 1: lengths do not
// repeat.
std::size_t steps_by_turns(const TriedSteps& steps);

// Length of ten steps, as for slot=auto: a multiple of 0.1 s, at least 0.2 s.
base::Nanoseconds slot_for(const TriedSteps& steps);

// Length of noise after which the interval of a noise without any effect is as narrow as the budget. Mean steps of
// slots are assumed to be independent. `quiet`, `slots`: numbers in a block. 0: too few slots to estimate.
base::Nanoseconds length_for_budget(const TriedSteps& steps, base::Nanoseconds slot, std::size_t quiet,
                                    std::size_t slots, double budget_percent);

}  // namespace crosstalk
