// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/step/hook.hpp"

#include "ddl-workloads/step/step_context.hpp"

namespace ddl {

void Hooks::exchange_news(StepContext& context)
{
    each(&Hook::post, context);
    if (board_.waits_less()) context.clock.enter(Phase::wait_exchange);  // a rank that is too far ahead waits here
    board_.exchange();
    if (board_.waits_less()) context.clock.leave();
    each(&Hook::receive, context);
}

void Hooks::exchange_last_news(StepContext& context)
{
    const auto receive_all = [&] {
        while (board_.settle()) each(&Hook::receive, context);
    };
    receive_all();
    each(&Hook::post, context);
    board_.exchange();
    receive_all();
}

}  // namespace ddl
