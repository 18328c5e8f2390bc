// SPDX-License-Identifier: Apache-2.0
// Interface of strategies, which carry out the steps of a training on all ranks.
#pragma once

#include "ddl-workloads/step/step_context.hpp"

namespace ddl {

class Strategy {
 public:
    virtual ~Strategy() = default;

    // Called once, when the ranks have agreed on the model's parameters.
    virtual void attach(Model&) {}

    // Makes one step, from begin_step() to end_step().
    virtual void step(StepContext& context) = 0;

    // Collective. Called after the last step: stops activities that run between steps.
    virtual void finish() {}
};

}  // namespace ddl
