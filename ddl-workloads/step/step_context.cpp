// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/step/step_context.hpp"

namespace ddl {

namespace {

void exchange_news(StepContext& context)
{
    NewsBoard& board = context.hooks.board();
    context.hooks.each(&Hook::post, context);
    if (board.waits_less()) context.clock.enter(Phase::wait_exchange);  // a rank that is too far ahead waits here
    board.exchange();
    if (board.waits_less()) context.clock.leave();
    context.hooks.each(&Hook::receive, context);
}

}  // namespace

void begin_step(StepContext& context)
{
    context.clock.begin_step(static_cast<std::uint64_t>(context.state.taken));
    exchange_news(context);
    context.hooks.each(&Hook::before_step, context);
    context.state.at_once = true;
    context.hooks.each(&Hook::check_state, context);
}

void end_step(StepContext& context)
{
    context.hooks.each(&Hook::after_update, context);
    const StepTimes times = context.clock.end_step();
    ++context.state.taken;
    context.hooks.each(&Hook::end_step, context, times);
}

void go_back(StepContext& context, std::int64_t steps_done)
{
    context.state.taken_back = context.state.taken - steps_done;
    context.hooks.each(&Hook::went_back, context);
    context.input.go_to(steps_done);
}

}  // namespace ddl
