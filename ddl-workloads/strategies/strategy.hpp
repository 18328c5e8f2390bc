// How ranks exchange gradients: a plug-in that owns the time between the end of forward and the update.
#pragma once

#include "base/cli/cards.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

class Strategy {
 public:
    virtual ~Strategy() = default;

    // Once, when the ranks agree on the model's parameters.
    virtual void attach(Model&) {}

    // The phases backward and wait_exchange: afterwards the gradients are what the update shall use.
    virtual void backward(Model& model, PhaseClock& clock) = 0;

    // The model has updated its parameters.
    virtual void after_update(PhaseClock&) {}

    // Collective, after the last step: ends what runs between steps.
    virtual void finish() {}
};

struct StrategyCard {
    std::string name;
    std::string summary;
    bool synchronous = true;  // all ranks end with the same parameters
    std::vector<base::OptionCard> options;
    std::unique_ptr<Strategy> (*make)(const base::Settings& settings, ExchangeThread& exchanges,
                                      Instruments& instruments);
};

const base::Registry<StrategyCard>& strategies();

}  // namespace ddl
