// SPDX-License-Identifier: Apache-2.0
// When a training shall end.
#pragma once

#include "base/cli/options.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace ddl {

struct EndPlan {
    std::int64_t steps = 0;  // each of these three: 0 for no such end; the first one reached counts
    std::int64_t epochs = 0;
    base::Nanoseconds duration{0};
    std::optional<double> until_loss;                // mean of all ranks over the last ten steps
    std::optional<double> until_accuracy;            // 0 to 1, on held-out images at the end of an epoch
    base::Nanoseconds stall_after{300'000'000'000};  // 0: never
};

class EndOptions {
 public:
    // Adds the options to `options`; both arguments must outlive this object.
    EndOptions(base::Options& options, EndPlan& plan);

    // Completes the plan once the options were parsed. Throws UsageError.
    void read() const;

 private:
    EndPlan& plan_;
    std::string until_loss_;
    std::string until_accuracy_;
};

}  // namespace ddl
