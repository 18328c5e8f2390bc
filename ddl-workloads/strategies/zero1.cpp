// Sharded optimizer (ZeRO, stage 1): gradients are averaged as by ddp, but each rank updates only its share of the
// parameters, keeps the optimizer's state of no other, and gets the other shares from the other ranks.
#include "ddl-workloads/strategies/bucket_overlap.hpp"

#include <algorithm>

namespace ddl {

namespace {

class ShardedOptimizer : public Strategy {
 public:
    ShardedOptimizer(const BucketOverlap::Plan& plan, Transport& transport, Instruments& instruments)
        : overlap_{plan, transport, instruments}, transport_{transport}
    {
    }

    void attach(Model& model) override
    {
        shards_ = model.update_shard(transport_.rank(), transport_.size());
        mine_.resize(shards_.size() / static_cast<std::size_t>(transport_.size()));
        overlap_.attach(model);
    }

    void backward(Model& model, PhaseClock& clock) override { overlap_.backward(model, clock); }

    void after_update(PhaseClock& clock) override
    {
        clock.enter(Phase::wait_exchange);
        const std::size_t begin = mine_.size() * static_cast<std::size_t>(transport_.rank());
        std::copy_n(shards_.begin() + static_cast<std::ptrdiff_t>(begin), mine_.size(), mine_.begin());
        transport_.all_gather(mine_, shards_).get();
    }

 private:
    BucketOverlap overlap_;
    Transport& transport_;
    std::span<std::byte> shards_;  // all parameters, by rank
    std::vector<std::byte> mine_;
};

}  // namespace

extern const StrategyCard zero1_strategy;
const StrategyCard zero1_strategy{
    .name = "zero1",
    .summary = "as ddp, with the optimizer's state and work shared out among the ranks (ZeRO stage 1)",
    .options = BucketOverlap::options(),
    .make = [](const base::Settings& settings, Transport& transport,
               Instruments& instruments) -> std::unique_ptr<Strategy> {
        return std::make_unique<ShardedOptimizer>(BucketOverlap::parsed(settings), transport, instruments);
    },
};

}  // namespace ddl
