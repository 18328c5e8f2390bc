// SPDX-License-Identifier: Apache-2.0
// Guards check the state and the gradients (--guard), and undo steps if requested (--on-guard).
#include "ddl-workloads/guards/guards.hpp"

#include "ddl-workloads/hooks/make_hooks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddl {

namespace {

class GuardHook : public Hook {
 public:
    explicit GuardHook(const HookParts& parts)
        : guards_{parts.plan.guards, Guarded{.recorder = parts.instruments.recorder(),
                                             .location = parts.instruments.main(),
                                             .model = parts.model,
                                             .exchanges = parts.exchanges,
                                             .directory = parts.directory}}
    {
        if (parts.plan.guards.replicas_every > 0) slot_.emplace(parts.board.add<ReplicaNews>());
    }

    void begin(StepContext&) override { guards_.after_update(); }

    void post(StepContext& context) override
    {
        if (guards_.stops()) context.state.request = std::max(context.state.request, Stop::guard);
        if (slot_) slot_->post(guards_.news());
    }

    void receive(StepContext&) override
    {
        if (slot_) guards_.receive(slot_->received());
    }

    void check_state(StepContext& context) override
    {
        const StepState& state = context.state;
        if (guards_.before_forward(static_cast<std::uint64_t>(state.taken), state.done()))
            go_back(context, guards_.went_back_to());
    }

    void before_update(StepContext& context) override
    {
        if (guards_.look_at_gradients()) context.clock.leave();
        guards_.before_update(static_cast<std::uint64_t>(context.state.taken));
    }

    void after_update(StepContext&) override { guards_.after_update(); }

    void describe(nlohmann::ordered_json& mine) const override { mine["guards"] = guards_.summary(); }

    void summarise(nlohmann::ordered_json& result, const nlohmann::ordered_json& ranks) override
    {
        nlohmann::ordered_json all = ranks.front()["guards"];
        for (std::size_t i = 1; !all.is_null() && i < ranks.size(); ++i) {
            const nlohmann::ordered_json& one = ranks[i]["guards"];
            for (auto& [guard, count] : all["caught"].items())
                count = count.get<std::int64_t>() + one["caught"][guard].get<std::int64_t>();
            all["repaired"] = all["repaired"].get<std::int64_t>() + one["repaired"].get<std::int64_t>();
            all["stopped"] = all["stopped"].get<bool>() || one["stopped"].get<bool>();
        }
        stopped_ = !all.is_null() && all["stopped"].get<bool>();
        result["guards"] = all;
        result["replicas"] = guards_.replicas();
    }

    std::optional<std::string> broken_promise(const StepContext&) const override
    {
        if (!stopped_) return std::nullopt;
        return "a guard ended the training: see guards.csv";
    }

 private:
    Guards guards_;
    std::optional<NewsBoard::Slot<ReplicaNews>> slot_;  // empty unless the ranks' replicas are compared
    bool stopped_ = false;                              // rank 0: a guard of some rank stopped the training
};

}  // namespace

namespace hook {

extern const HookCard guards{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> { return std::make_shared<GuardHook>(parts); },
};

}  // namespace hook

}  // namespace ddl
