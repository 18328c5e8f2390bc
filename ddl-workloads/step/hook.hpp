// SPDX-License-Identifier: Apache-2.0
// Hooks observe or change a training's steps: control delays, alterations, guards, checkpoints, logs.
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

// Callbacks, in the order of a step. The main thread calls them on all ranks in the same order, so a hook may make
// collective calls. A hook that takes noticeable time within a step enters its own phase, or leaves the current one.
class Hook {
 public:
    virtual ~Hook() = default;

    // Collective. Called once, before the first step.
    virtual void begin(StepContext&) {}

    // post() writes this rank's report to the news board; receive() reads the reports posted one step earlier, or
    // NewsBoard::lag() steps.
    virtual void post(StepContext&) {}
    virtual void receive(StepContext&) {}

    virtual void before_step(StepContext&) {}

    // Called before the state is used, by the next forward or as the final state. The hook may restore the state of an
    // earlier step: go_back().
    virtual void check_state(StepContext&) {}

    // Called before and after all passes of a step or of an evaluation.
    virtual void before_passes(StepContext&) {}
    virtual void after_passes(StepContext&) {}

    virtual void input(StepContext&, Batch&, int /*pass, from 1*/) {}

    // Called when the gradients are ready for the update: gradients() may change them, then before_update() may check
    // them.
    virtual void gradients(StepContext&) {}
    virtual void before_update(StepContext&) {}

    // Called when all ranks have updated their parameters; the time still counts as part of the step.
    virtual void after_update(StepContext&) {}

    virtual void end_step(StepContext&, const StepTimes&) {}

    // Collective. Called when the state is again that of step state.done().
    virtual void went_back(StepContext&) {}

    // after_last_step() is called after the last step; then finish(), collective, before the trace is completed.
    // finish() may take any time.
    virtual void after_last_step(StepContext&) {}
    virtual void finish(StepContext&) {}

    // For the run record: describe() adds this rank's part; then, on rank 0, summarise() adds sums over all ranks.
    // `ranks` is in rank order.
    virtual void describe(nlohmann::ordered_json& /*mine*/) const {}
    virtual void summarise(nlohmann::ordered_json& /*result*/, const nlohmann::ordered_json& /*ranks*/) {}

    // Called on rank 0 after finish(): a request of the user that was not met (exit code 3).
    virtual std::optional<std::string> broken_promise(const StepContext&) const { return std::nullopt; }
};

// Calls hooks in the order in which they were added.
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

    // Collective: the exchanges after the last step, which deliver all remaining reports.
    void exchange_last_news(StepContext& context);

 private:
    NewsBoard board_;
    std::vector<std::shared_ptr<Hook>> hooks_;
};

}  // namespace ddl
