// SPDX-License-Identifier: Apache-2.0
// The strategy of PyTorch's DistributedDataParallel.
#include "ddl-workloads/strategies/bucket_overlap.hpp"

namespace ddl {

namespace {

class Ddp : public DataParallel {
 public:
    Ddp(const BucketOverlap::Plan& plan, ExchangeThread& exchanges, Instruments& instruments)
        : overlap_{plan, exchanges, instruments}
    {
    }

    void attach(Model& model) override { overlap_.attach(model); }
    void backward(Model& model, PhaseClock& clock) override { overlap_.backward(model, clock); }

 private:
    BucketOverlap overlap_;
};

}  // namespace

extern const StrategyCard ddp_strategy{
    .name = "ddp",
    .summary = "buckets overlap with backward (c10d::Reducer)",
    .offers = {&equal_ranks, &whole_means, &whole_weights},
    .needs = BucketOverlap::needs,
    .options = BucketOverlap::options(),
    .make = [](const StrategyParts& parts) -> std::unique_ptr<Strategy> {
        return std::make_unique<Ddp>(BucketOverlap::parsed(parts.settings), parts.exchanges, parts.instruments);
    },
};

}  // namespace ddl
