// SPDX-License-Identifier: Apache-2.0
// The steps of a job without noise, and what they say about a run with it.
#pragma once

#include "base/units.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace crosstalk {

// The steps of a table with rank, step, begin_ns, end_ns and a <phase>_ns for each phase.
struct TriedSteps {
    std::size_t ranks = 0;
    std::vector<std::int64_t> begin_ns;  // rank 0's, in order
    std::vector<std::int64_t> length_ns;
    std::vector<std::pair<std::string, double>> phases;  // share of the time of rank 0's steps after the warm-up
};
TriedSteps read_tried_steps(const std::filesystem::path& table);

// The warm-up of interference's analyses, or half of the steps where there are few.
std::size_t warm_up_of(const TriedSteps& steps);

double mean_ms(const TriedSteps& steps);
double median_ms(const TriedSteps& steps, double from_share = 0.0,
                 double to_share = 1.0);  // of the steps after warm-up

// How many steps in a row go by turns, as several collectives in one step of a job do: the least number, up to 12, of
// which the sums vary by less than half of what as many independent steps would leave. 1: they do not go by turns.
std::size_t steps_by_turns(const TriedSteps& steps);

// Ten steps, as slot=auto takes them: a multiple of 0.1 s, at least 0.2 s.
base::Nanoseconds slot_for(const TriedSteps& steps);

// How long noise has to be on until an interval of a noise without any effect is as narrow as the budget: mean steps in
// slots are taken for independent. `quiet`, `slots`: in a block. 0: too few slots to say.
base::Nanoseconds length_for_budget(const TriedSteps& steps, base::Nanoseconds slot, std::size_t quiet,
                                    std::size_t slots, double budget_percent);

}  // namespace crosstalk
