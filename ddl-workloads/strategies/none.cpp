// SPDX-License-Identifier: Apache-2.0
// No exchange at all: each rank trains its own model. No exchange can be faster than this bound.
#include "ddl-workloads/strategies/strategy.hpp"

namespace ddl {

namespace {

class NoExchange : public DataParallel {
 public:
    void backward(Model& model, PhaseClock& clock) override
    {
        clock.enter(Phase::backward);
        model.backward();
        clock.enter(Phase::wait_exchange);
    }
};

}  // namespace

extern const StrategyCard none_strategy{
    .name = "none",
    .summary = "no exchange: each rank trains alone",
    .offers = {&whole_means, &exchange_after_backward, &whole_weights},
    .needs = [](const base::Settings&) { return base::Capabilities{}; },
    .options = {},
    .make = [](const StrategyParts&) -> std::unique_ptr<Strategy> { return std::make_unique<NoExchange>(); },
};

}  // namespace ddl
