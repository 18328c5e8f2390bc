// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/step/data_parallel.hpp"

#include <utility>

namespace ddl {

Batch next_batch(StepContext& context, int pass)
{
    context.clock.enter(Phase::load);
    Batch batch = context.input.next();
    context.hooks.each(&Hook::input, context, batch, pass);
    return batch;
}

void take_batch(StepContext& context, Batch batch)
{
    context.clock.enter(Phase::to_device);
    context.model.take(std::move(batch));
}

void update_model(StepContext& context)
{
    context.hooks.each(&Hook::gradients, context);
    context.hooks.each(&Hook::before_update, context);
    context.clock.enter(Phase::update);
    context.model.update();
}

void DataParallel::step(StepContext& context)
{
    begin_step(context);
    context.hooks.each(&Hook::before_passes, context);
    for (int pass = 1; pass <= context.passes; ++pass) {
        take_batch(context, next_batch(context, pass));
        context.clock.enter(Phase::forward);
        context.model.forward();
        if (pass == context.passes) {
            backward(context.model, context.clock);
        } else {
            context.clock.enter(Phase::backward);
            context.model.backward();
        }
    }
    context.hooks.each(&Hook::after_passes, context);
    update_model(context);
    after_update(context.clock);
    context.clock.leave();
    end_step(context);
}

}  // namespace ddl
