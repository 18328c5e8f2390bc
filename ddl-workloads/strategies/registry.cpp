#include "ddl-workloads/strategies/strategy.hpp"

namespace ddl {

extern const StrategyCard none_strategy;
extern const StrategyCard naive_strategy;
extern const StrategyCard ddp_strategy;
extern const StrategyCard cycle_strategy;
extern const StrategyCard zero1_strategy;

const base::Registry<StrategyCard>& strategies()
{
    static const base::Registry<StrategyCard> registry{
        "strategy", "ddl-train", {&none_strategy, &naive_strategy, &ddp_strategy, &cycle_strategy, &zero1_strategy}};
    return registry;
}

}  // namespace ddl
