// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/step/hook.hpp"

namespace ddl {

void Hooks::exchange_news(StepContext& context)
{
    each(&Hook::post, context);
    board_.exchange();
    each(&Hook::receive, context);
}

void Hooks::exchange_last_news(StepContext& context)
{
    board_.settle();
    each(&Hook::receive, context);
    exchange_news(context);
    board_.settle();
    each(&Hook::receive, context);
}

}  // namespace ddl
