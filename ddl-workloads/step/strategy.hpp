// SPDX-License-Identifier: Apache-2.0
// How ranks train together: a strategy owns the step.
#pragma once

#include "ddl-workloads/step/step_context.hpp"

namespace ddl {

class Strategy {
 public:
    virtual ~Strategy() = default;

    // Once, when the ranks agree on the model's parameters.
    virtual void attach(Model&) {}

    // From begin_step() to end_step().
    virtual void step(StepContext& context) = 0;

    // Collective, after the last step: ends what runs between steps.
    virtual void finish() {}
};

}  // namespace ddl
