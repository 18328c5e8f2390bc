// SPDX-License-Identifier: Apache-2.0
// Options that say when a training ends.
#pragma once

#include "base/cli/options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ddl {

struct EndPlan {
    std::int64_t steps = 0;  // this and the next two: 0 if not a limit; the first limit reached ends the training
    std::int64_t epochs = 0;
    base::Nanoseconds duration{0};
    std::optional<double> until_loss;                // mean over all ranks and the last ten steps
    std::optional<double> until_accuracy;            // 0 to 1, on held-out samples at the end of an epoch
    base::Nanoseconds stall_after{300'000'000'000};  // 0: never
};

// Adds the options; options.check() completes the plan. Throws UsageError.
void add_end_options(base::Options& options, EndPlan& plan);

}  // namespace ddl
