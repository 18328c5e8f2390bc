// SPDX-License-Identifier: Apache-2.0
// Exchanges one gradient tensor after the other once backward has ended, waiting for each: no overlap.
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/strategies/strategy.hpp"

namespace ddl {

namespace {

class OneByOne : public DataParallel {
 public:
    OneByOne(ExchangeThread& exchanges, Instruments& instruments) : exchanges_{exchanges}, instruments_{instruments} {}

    void backward(Model& model, PhaseClock& clock) override
    {
        clock.enter(Phase::backward);
        model.backward();
        const std::vector<std::span<float>> gradients = gradients_of(model).gradients();
        for (std::size_t i = 0; i < gradients.size(); ++i) instruments_.bucket_ready({clock.step(), i});
        clock.enter(Phase::wait_exchange);
        for (std::size_t i = 0; i < gradients.size(); ++i) exchanges_.average(gradients[i], {clock.step(), i}).get();
    }

 private:
    ExchangeThread& exchanges_;
    Instruments& instruments_;
};

}  // namespace

extern const StrategyCard naive_strategy{
    .name = "naive",
    .summary = "one tensor at a time after backward, without overlap",
    .offers = {&equal_ranks, &whole_means, &exchange_after_backward, &whole_weights},
    .needs = needs_host_exchange,
    .options = {},
    .make = [](const StrategyParts& parts) -> std::unique_ptr<Strategy> {
        return std::make_unique<OneByOne>(parts.exchanges, parts.instruments);
    },
};

}  // namespace ddl
