// SPDX-License-Identifier: Apache-2.0
// Hooks listen to a training's steps, or change them: control delays, alterations, guards, checkpoints, logs.
#pragma once

#include "ddl-workloads/data/loading/batch.hpp"
#include "ddl-workloads/instruments/phases.hpp"
#include "ddl-workloads/step/news_board.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

struct StepContext;

// Callbacks, in the order of a step. All are called by the main thread, on all ranks alike, so that a hook may call
// collectives. A hook that needs time of its own within a step enters a phase, or leaves the current one.
class Hook {
 public:
    virtual ~Hook() = default;

    // Collective. Once, before the first step.
    virtual void begin(StepContext&) {}

    // Reports to the other ranks are posted on the news board; then those posted one step earlier can be read.
    virtual void post(StepContext&) {}
    virtual void receive(StepContext&) {}

    virtual void before_step(StepContext&) {}

    // The state is about to be used, by the next forward or as what the training ends with. It may be taken back to
    // that of an earlier step: go_back().
    virtual void check_state(StepContext&) {}

    // Called before and after all passes of a step, and of an evaluation.
    virtual void before_passes(StepContext&) {}
    virtual void after_passes(StepContext&) {}

    virtual void input(StepContext&, Batch&, int /*pass, from 1*/) {}

    // The gradients are what the update shall use: first a hook may change them, then look at them.
    virtual void gradients(StepContext&) {}
    virtual void before_update(StepContext&) {}

    // The parameters are updated, on all ranks; the step still counts its time.
    virtual void after_update(StepContext&) {}

    virtual void end_step(StepContext&, const StepTimes&) {}

    // Collective: the state is again that of state.done() steps.
    virtual void went_back(StepContext&) {}

    // The last step was made. Then, collective, when the trace may be complete: takes as long as it needs.
    virtual void after_last_step(StepContext&) {}
    virtual void finish(StepContext&) {}

    // For the run record: the part of this rank, and then on rank 0 the sums over all. `ranks`: by rank.
    virtual void describe(nlohmann::ordered_json& /*mine*/) const {}
    virtual void summarise(nlohmann::ordered_json& /*result*/, const nlohmann::ordered_json& /*ranks*/) {}

    // On rank 0, after finish(): a request that was not met (exit code 3).
    virtual std::optional<std::string> broken_promise(const StepContext&) const { return std::nullopt; }
};

// Called in the order in which they were added.
class Hooks {
 public:
    explicit Hooks(ExchangeThread& exchanges) : board_{exchanges} {}

    NewsBoard& board() { return board_; }
    void add(std::shared_ptr<Hook> hook) { hooks_.push_back(std::move(hook)); }

    template <class... Parameters, class... Arguments>
    void each(void (Hook::*moment)(Parameters...), Arguments&&... arguments) const
    {
        for (const std::shared_ptr<Hook>& hook : hooks_) (hook.get()->*moment)(arguments...);
    }
    const std::vector<std::shared_ptr<Hook>>& all() const { return hooks_; }

    // Collective. The exchange before a step, and those after the last one, so that all is read.
    void exchange_news(StepContext& context);
    void exchange_last_news(StepContext& context);

 private:
    NewsBoard board_;
    std::vector<std::shared_ptr<Hook>> hooks_;
};

}  // namespace ddl
