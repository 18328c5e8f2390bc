// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/step/hook.hpp"

namespace ddl {

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
