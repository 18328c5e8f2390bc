// SPDX-License-Identifier: Apache-2.0
// Strategies: plug-ins that carry out the steps of a training.
#pragma once

#include "base/cli/cards.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/step/data_parallel.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ddl {

// The parts of a training that strategies use. They must outlive the strategy.
struct StrategyParts {
    const base::Settings& settings;
    ExchangeThread& exchanges;
    Instruments& instruments;
    const OptimizerPlan& optimizer;
    std::uint64_t seed = 1;
    const std::string& soft_errors;          // text of --soft-errors
    const std::filesystem::path& directory;  // DIR/train, which exists
};

struct StrategyCard {
    std::string name;
    std::string summary;
    base::Capabilities offers = {};
    base::Capabilities (*needs)(const base::Settings& settings);
    std::vector<base::OptionCard> options;
    std::unique_ptr<Strategy> (*make)(const StrategyParts& parts);
};

inline constexpr base::Capability equal_ranks{"a strategy that keeps parameters equal on all ranks"};
inline constexpr base::Capability whole_means{"a strategy that gives each rank the mean of every gradient"};
inline constexpr base::Capability whole_weights{"a strategy that keeps all weights on every rank"};
inline constexpr base::Capability soft_errors_of_blocks{"a strategy with coded blocks of weights"};
inline constexpr base::Capability same_samples{"a strategy whose ranks train with the same samples"};
inline constexpr base::Capability exchange_after_backward{"a strategy that exchanges after backward, if at all"};

// The needs of most strategies.
inline base::Capabilities needs_host_exchange(const base::Settings&)
{
    return {&host_exchange, &exchanged_gradients};
}

const base::Registry<StrategyCard>& strategies();

}  // namespace ddl
