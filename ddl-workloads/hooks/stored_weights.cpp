// SPDX-License-Identifier: Apache-2.0
// Weights stored in memory whose bits flip: each forward pass uses the values read (--store).
#include "ddl-workloads/alteration/stored_weights.hpp"

#include "base/contract/trace_names.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"

#include <nlohmann/json.hpp>

namespace ddl {

namespace {

class WeightsInMemory : public Hook {
 public:
    explicit WeightsInMemory(const HookParts& parts)
        : instruments_{parts.instruments}, region_{instruments_.recorder().region(base::region::stored_weights)}
    {
        constexpr std::uint64_t stream_of_rank_0 = std::uint64_t{1} << 40U;  // above the random streams of epochs
        const StorePlan& plan = parts.plan.store;
        if (plan.on())
            stored_.emplace(parts.model, soft_errors::weight_memory(plan.code, plan.detection, plan.rate), "",
                            parts.plan.seed, stream_of_rank_0 + static_cast<std::uint64_t>(parts.exchanges.rank()));
    }

    void before_passes(StepContext&) override
    {
        if (!stored_) return;
        const otf2::Scope scope{instruments_.main(), region_};
        stored_->read();
    }

    void after_passes(StepContext&) override
    {
        if (stored_) stored_->put_back();
    }

    void describe(nlohmann::ordered_json& mine) const override
    {
        mine["stored"] = nullptr;
        if (!stored_) return;
        const soft_errors::WeightRead& sum = stored_->sum();
        mine["stored"] = {{"bits", sum.bits}, {"flipped", sum.flipped}, {"detected", sum.detected}};
    }

    // Sums over all ranks.
    void summarise(nlohmann::ordered_json& result, const nlohmann::ordered_json& ranks) override
    {
        nlohmann::ordered_json all = ranks.front()["stored"];
        for (auto& [name, sum] : all.items()) {
            std::uint64_t of_ranks = 0;
            for (const auto& rank : ranks) of_ranks += rank["stored"][name].get<std::uint64_t>();
            sum = of_ranks;
        }
        result["stored"] = all;
    }

 private:
    Instruments& instruments_;
    otf2::RegionRef region_;
    std::optional<StoredWeights> stored_;  // empty: weights are in ordinary memory
};

}  // namespace

namespace hook {

extern const HookCard stored_weights{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> { return std::make_shared<WeightsInMemory>(parts); },
};

}  // namespace hook

}  // namespace ddl
