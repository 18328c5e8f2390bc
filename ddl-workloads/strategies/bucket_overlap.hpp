// SPDX-License-Identifier: Apache-2.0
// Exchanges buckets while backward still computes, as PyTorch's DistributedDataParallel does. Torch models form buckets
// with the real c10d::Reducer; the emulated model uses its own options.
#pragma once

#include "ddl-workloads/strategies/strategy.hpp"

#include <vector>

namespace ddl {

class BucketOverlap {
 public:
    struct Plan {
        BucketCaps caps;
        Precision precision = Precision::full;
    };
    BucketOverlap(const Plan& plan, ExchangeThread& exchanges, Instruments& instruments);

    void attach(Model& model);
    // After this call gradients are averaged; in a model that updates a shard, only the gradients of the shard.
    void backward(Model& model, PhaseClock& clock);

    // The options that a strategy puts on its card. Throws UsageError.
    static std::vector<base::OptionCard> options();
    static Plan parsed(const base::Settings& settings);
    static base::Capabilities needs(const base::Settings& settings);

 private:
    Plan plan_;
    ExchangeThread& exchanges_;
    Instruments& instruments_;
    bool waits_ = false;  // the last bucket of this step is ready, so the phase is wait_exchange
};

}  // namespace ddl
