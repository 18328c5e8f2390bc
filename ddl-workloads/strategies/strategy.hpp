// Strategies: plug-ins that own the step of a training.
#pragma once

#include "base/cli/cards.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/step/data_parallel.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <memory>
#include <string>
#include <vector>

namespace ddl {

struct StrategyCard {
    std::string name;
    std::string summary;
    bool synchronous = true;  // all ranks end with the same parameters
    bool whole_means = true;  // each rank has the mean of every gradient, not of its shard only
    std::vector<base::OptionCard> options;
    std::unique_ptr<Strategy> (*make)(const base::Settings& settings, ExchangeThread& exchanges,
                                      Instruments& instruments);
};

const base::Registry<StrategyCard>& strategies();

}  // namespace ddl
