// SPDX-License-Identifier: Apache-2.0
// Sums of times over the steps of one rank.
#pragma once

#include "ddl-workloads/instruments/phases.hpp"

#include <array>
#include <cstdint>

namespace ddl {

struct StepSums {
    std::int64_t steps = 0;
    std::int64_t ns = 0;
    std::array<std::int64_t, phases.size()> phase_ns{};

    void add(const StepTimes& times);
    std::int64_t of(Phase phase) const;
};

}  // namespace ddl
