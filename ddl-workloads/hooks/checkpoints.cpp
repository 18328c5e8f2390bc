// SPDX-License-Identifier: Apache-2.0
// Writes checkpoints as phases of the steps after which they are due (--checkpoint-every).
#include "base/error.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"
#include "ddl-workloads/plan/checkpoint_meta.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddl {

namespace {

// Throws UsageError if the model has no state, or if one file cannot hold it.
void check_can_be_written(const TrainingPlan& plan, const std::vector<StateTensor>& state)
{
    if (state.empty()) base::fail_usage("--checkpoint-every: ", plan.model, " has no state");
    const auto own = [](const StateTensor& tensor) { return tensor.owner == Owner::each; };
    if (!plan.checkpoint.sharded && std::any_of(state.begin(), state.end(), own))
        base::fail_usage("--checkpoint-by rank0: not all of the state of ", plan.model,
                         " is there; use --checkpoint-by sharded");
}

class Checkpoints : public Hook {
 public:
    explicit Checkpoints(const HookParts& parts)
        : plan_{parts.plan},
          ranks_are_equal_{parts.ranks_are_equal},
          slot_{parts.board.add<CheckpointNews>()},
          checkpointer_{parts.plan.checkpoint, parts.directory / "checkpoints", parts.exchanges, parts.instruments}
    {
        check_can_be_written(plan_, training_state(parts.model, ranks_are_equal_));
    }

    void post(StepContext&) override { slot_.post(checkpointer_.news()); }

    void receive(StepContext&) override
    {
        if (!over_) checkpointer_.receive(slot_.received());
    }

    void after_update(StepContext& context) override
    {
        const std::int64_t steps = context.state.done() + 1;
        if (!checkpointer_.due(steps)) return;
        context.clock.enter(Phase::checkpoint);
        write(context, steps);
        context.clock.leave();
    }

    // Checkpoints of the steps that were undone may contain the error that a guard caught.
    void went_back(StepContext& context) override { checkpointer_.forget_after(context.state.done()); }

    void after_last_step(StepContext&) override { over_ = true; }

    // After a signal, writes a checkpoint of the last step, however long that takes: if the process is killed
    // meanwhile, the previous checkpoint is still complete.
    void finish(StepContext& context) override
    {
        const StepState& state = context.state;
        if (state.stop == Stop::signal && state.taken > state.first && !checkpointer_.began(state.done()))
            write(context, state.done());
        checkpointer_.finish();
    }

    void summarise(nlohmann::ordered_json& result, const nlohmann::ordered_json&) override
    {
        result["checkpoints"] = checkpointer_.summary();
    }

    std::optional<std::string> broken_promise(const StepContext&) const override
    {
        if (checkpointer_.failures() == 0) return std::nullopt;
        return base::join(checkpointer_.failures(), " checkpoints could not be written");
    }

 private:
    void write(StepContext& context, std::int64_t steps)
    {
        context.state.at_once = false;
        checkpointer_.write(checkpoint_meta(plan_, context.exchanges.size(), context.input.steps_per_epoch(), steps),
                            training_state(context.model, ranks_are_equal_));
    }

    const TrainingPlan& plan_;
    bool ranks_are_equal_;
    NewsBoard::Slot<CheckpointNews> slot_;
    Checkpointer checkpointer_;
    bool over_ = false;
};

}  // namespace

std::shared_ptr<Hook> make_checkpoints(const HookParts& parts)
{
    if (!parts.plan.checkpoint.on()) return nullptr;
    return std::make_shared<Checkpoints>(parts);
}

}  // namespace ddl
