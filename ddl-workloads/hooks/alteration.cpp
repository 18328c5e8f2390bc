// SPDX-License-Identifier: Apache-2.0
// Flips bits of the state, the input or the gradients in given steps (--alter).
#include "base/error.hpp"
#include "ddl-workloads/alteration/live_alteration.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace ddl {

namespace {

class Alterations : public Hook {
 public:
    Alterations(const HookParts& parts, std::vector<LiveAlteration> mine)
        : plan_{parts.plan},
          alterer_{parts.instruments.recorder(), parts.instruments.main(), parts.model, std::move(mine)}
    {
    }

    void before_step(StepContext& context) override
    {
        alterer_.before_step(static_cast<std::uint64_t>(context.state.taken));
    }

    void input(StepContext&, Batch& batch, int pass) override
    {
        if (pass == 1) alterer_.input(batch);
    }

    void gradients(StepContext&) override { alterer_.before_update(); }

    void describe(nlohmann::ordered_json& mine) const override { mine["alterations"] = alterer_.count(); }

    // Promises are not checked if trials were made (they repeat steps), or if a signal ended the training early.
    std::optional<std::string> broken_promise(const StepContext& context) const override
    {
        const StepState& state = context.state;
        if (state.stop == Stop::signal || !plan_.trials.empty()) return std::nullopt;
        for (const LiveAlteration& one : plan_.alterations)
            if (std::cmp_less(one.step, state.first) || std::cmp_greater_equal(one.step, state.taken))
                return base::join("--alter: step ", one.step, " was not reached, so nothing was altered");
        return std::nullopt;
    }

 private:
    const TrainingPlan& plan_;
    LiveAlterer alterer_;
};

}  // namespace

namespace hook {

extern const HookCard alteration{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> {
        std::vector<LiveAlteration> mine;
        for (const LiveAlteration& one : parts.plan.alterations) {
            if (one.rank >= parts.exchanges.size())
                base::fail_usage("--alter: there is no rank ", one.rank, " of ", parts.exchanges.size());
            if (one.rank < 0 || one.rank == parts.exchanges.rank()) mine.push_back(one);
        }
        return std::make_shared<Alterations>(parts, std::move(mine));
    },
};

}  // namespace hook

}  // namespace ddl
