// SPDX-License-Identifier: Apache-2.0
// The step of a data-parallel training: take, forward, backward, exchange, update.
#pragma once

#include "ddl-workloads/step/strategy.hpp"

namespace ddl {

class DataParallel : public Strategy {
 public:
    void step(StepContext& context) final;

    // Phases backward and wait_exchange of the last pass: afterwards the gradients are those that the update uses.
    virtual void backward(Model& model, PhaseClock& clock) = 0;

    // Called after the model has updated its parameters.
    virtual void after_update(PhaseClock&) {}
};

// For strategies that compose their own step: the next batch of the input; its way to the device that computes; the
// update, once the gradients are those that it uses.
Batch next_batch(StepContext& context, int pass);
void take_batch(StepContext& context, Batch batch);
void update_model(StepContext& context);

}  // namespace ddl
