// SPDX-License-Identifier: Apache-2.0
// The step of a data-parallel training: take, forward, backward, exchange, update.
#pragma once

#include "ddl-workloads/step/strategy.hpp"

namespace ddl {

class DataParallel : public Strategy {
 public:
    void step(StepContext& context) final;

    // The last pass's phases backward and wait_exchange: afterwards the gradients are what the update shall use.
    virtual void backward(Model& model, PhaseClock& clock) = 0;

    // The model has updated its parameters.
    virtual void after_update(PhaseClock&) {}
};

// The parts of such a step, for strategies that own theirs: the next batch goes to where the model computes.
void take_batch(StepContext& context, int pass);

}  // namespace ddl
