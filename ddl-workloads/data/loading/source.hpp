// SPDX-License-Identifier: Apache-2.0
// A source of the batches that steps take.
#pragma once

#include "ddl-workloads/data/loading/batch.hpp"

#include <cstdint>

namespace ddl {

class Source {
 public:
    virtual ~Source() = default;

    // The next batch of this rank. Waits until it is there.
    virtual Batch next() = 0;

    // The next batch is that of the step after `steps_done` steps.
    virtual void go_to(std::int64_t steps_done) = 0;

    virtual std::int64_t steps_per_epoch() const = 0;  // at least 1: passes that make no whole step are the next one's
};

}  // namespace ddl
