// SPDX-License-Identifier: Apache-2.0
// Sharded optimizer (ZeRO stage 1): buckets overlap with backward as in ddp, but a rank receives only the mean of its
// own share of the parameters (reduce-scatter), updates only this share, keeps only its optimizer state, and then
// receives the other shares from the other ranks (all-gather).
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/strategies/bucket_overlap.hpp"

namespace ddl {

namespace {

class ShardedOptimizer : public DataParallel {
 public:
    ShardedOptimizer(const BucketOverlap::Plan& plan, ExchangeThread& exchanges, Instruments& instruments)
        : overlap_{plan, exchanges, instruments}, exchanges_{exchanges}
    {
    }

    void attach(Model& model) override
    {
        model_ = &model;
        shards_ = gradients_of(model).update_shard(exchanges_.rank(), exchanges_.size());
        overlap_.attach(model);
    }

    void backward(Model& model, PhaseClock& clock) override { overlap_.backward(model, clock); }

    void after_update(PhaseClock& clock) override
    {
        clock.enter(Phase::wait_exchange);
        exchanges_.gather_shards(shards_).get();
        model_->written({shards_});
    }

 private:
    BucketOverlap overlap_;
    ExchangeThread& exchanges_;
    Model* model_ = nullptr;       // set by attach()
    std::span<std::byte> shards_;  // all parameters, in rank order
};

}  // namespace

extern const StrategyCard zero1_strategy{
    .name = "zero1",
    .summary = "like ddp, with optimizer state and update sharded over the ranks (ZeRO stage 1)",
    .offers = {&equal_ranks, &whole_weights},
    .needs = needs_host_exchange,
    .options = BucketOverlap::options(),
    .make = [](const StrategyParts& parts) -> std::unique_ptr<Strategy> {
        return std::make_unique<ShardedOptimizer>(BucketOverlap::parsed(parts.settings), parts.exchanges,
                                                  parts.instruments);
    },
};

}  // namespace ddl
