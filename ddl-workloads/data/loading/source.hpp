// SPDX-License-Identifier: Apache-2.0
// Interface: a source of the batches that steps use.
#pragma once

#include "ddl-workloads/data/loading/batch.hpp"

#include <cstdint>

namespace ddl {

class Source {
 public:
    virtual ~Source() = default;

    // The next batch of this rank. Waits until the batch is ready.
    virtual Batch next() = 0;

    // Repositions the source: the next batch is the first one after `steps_done` steps.
    virtual void go_to(std::int64_t steps_done) = 0;

    virtual std::int64_t steps_per_epoch() const = 0;  // at least 1; incomplete steps continue in the next epoch
};

}  // namespace ddl
