// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/strategies/strategy.hpp"

namespace ddl {

#define STRATEGY(card) extern const StrategyCard card;
#include "ddl-workloads/strategies/strategies.inc"
#undef STRATEGY

const base::Registry<StrategyCard>& strategies()
{
    static const base::Registry<StrategyCard> registry{"strategy",
                                                       "ddl-train",
                                                       {
#define STRATEGY(card) &(card),
#include "ddl-workloads/strategies/strategies.inc"
#undef STRATEGY
                                                       }};
    return registry;
}

}  // namespace ddl
