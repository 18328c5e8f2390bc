// SPDX-License-Identifier: Apache-2.0
// Buckets are exchanged while backward still computes, as PyTorch's DistributedDataParallel does. Torch models cut
// their gradients with the real c10d::Reducer, the emulated model by its own options.
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
    // Afterwards gradients are averaged; of a model that updates a shard, those of the shard.
    void backward(Model& model, PhaseClock& clock);

    // Its options on the card of a strategy. Throws UsageError.
    static std::vector<base::OptionCard> options();
    static Plan parsed(const base::Settings& settings);
    static base::Capabilities needs(const base::Settings& settings);

 private:
    Plan plan_;
    ExchangeThread& exchanges_;
    Instruments& instruments_;
    bool waits_ = false;  // the last bucket of this step is ready
};

}  // namespace ddl
