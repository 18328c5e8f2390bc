// SPDX-License-Identifier: Apache-2.0
// Checkpoints, as phases of the steps after which they are due: by --checkpoint-every, or when job.checkpoint of
// noisegen requests one.
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"
#include "ddl-workloads/plan/checkpoint_meta.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace ddl {

namespace {

std::size_t most_in_a_file(const CheckpointPlan& plan, const std::vector<StateTensor>& state, int ranks)
{
    std::size_t most = plan.by == Writers::sharded ? 0 : state.size();
    if (plan.by == Writers::sharded)
        for (const std::vector<std::size_t>& share : shares(state, ranks)) most = std::max(most, share.size());
    return most;
}

// Why no checkpoint is possible: there is no state, or its files cannot hold it. Empty if it is possible. The same on
// all ranks.
std::string why_not(const TrainingPlan& plan, const std::vector<StateTensor>& state, int ranks)
{
    if (state.empty()) return base::join("--checkpoint-every: ", plan.model, " has no state");
    const CheckpointFormat& format = checkpoint_formats().find(plan.checkpoint.format);
    if (const std::size_t tensors = most_in_a_file(plan.checkpoint, state, ranks); tensors > format.most_tensors)
        return base::join("--checkpoint-format ", format.name, ": a file holds at most ", format.most_tensors,
                          " tensors, not the ", tensors, " of ", plan.model);
    const auto own = [](const StateTensor& tensor) { return tensor.owner == Owner::each; };
    if (plan.checkpoint.in_shards() || std::none_of(state.begin(), state.end(), own)) return {};
    return base::join("--checkpoint-by rank0: the state of ", plan.model,
                      " is divided over the ranks; use --checkpoint-by sharded");
}

class Checkpoints : public Hook {
 public:
    explicit Checkpoints(const HookParts& parts)
        : plan_{parts.plan},
          page_{parts.page},
          ranks_are_equal_{parts.ranks_are_equal},
          slot_{parts.board.add<CheckpointNews>()},
          checkpointer_{parts.plan.checkpoint, parts.directory / "checkpoints", parts.exchanges, parts.instruments}
    {
    }

    void post(StepContext& context) override
    {
        CheckpointNews news = checkpointer_.news();
        if (page_ != nullptr && context.exchanges.rank() == 0)
            news.requested = base::new_checkpoint(*page_, base::now_ns(), slot_end_ns_);
        slot_.post(news);
    }

    void receive(StepContext&) override
    {
        const std::vector<CheckpointNews> all = slot_.received();
        if (over_ || all.empty()) return;
        checkpointer_.receive(all);
        requested_ = all.front().requested;
    }

    void after_update(StepContext& context) override
    {
        const std::int64_t steps = context.state.done() + 1;
        const bool requested = requested_ != base::ControlRequest::none;
        if (!requested && !checkpointer_.due(steps)) return;
        context.clock.enter(Phase::checkpoint);
        if (requested && page_ != nullptr) page_->served.fetch_add(1, std::memory_order_relaxed);
        write(context, steps,
              requested ? requested_ == base::ControlRequest::checkpoint_async : plan_.checkpoint.beside);
        context.clock.leave();
        requested_ = base::ControlRequest::none;
    }

    void end_step(StepContext&, const StepTimes& times) override
    {
        checkpointer_.step_took(times.end_ns - times.begin_ns, times.of(Phase::checkpoint));
    }

    // Checkpoints of the steps that were undone may contain the error that a guard caught.
    void went_back(StepContext& context) override { checkpointer_.forget_after(context.state.done()); }

    void after_last_step(StepContext&) override { over_ = true; }

    // After a signal, writes a checkpoint of the last step, however long that takes: if the process is killed
    // meanwhile, the previous checkpoint is still complete.
    void finish(StepContext& context) override
    {
        const StepState& state = context.state;
        const bool stopped = plan_.checkpoint.on() && state.stop == Stop::signal;
        if (stopped && state.taken > state.first && !checkpointer_.began(state.done()))
            write(context, state.done(), plan_.checkpoint.beside);
        checkpointer_.finish();
    }

    void summarise(nlohmann::ordered_json& result, const nlohmann::ordered_json&) override
    {
        const nlohmann::ordered_json summary = checkpointer_.summary();
        if (plan_.checkpoint.on() || summary.at("written") != 0 || summary.at("failed") != 0)
            result["checkpoints"] = summary;
    }

    std::optional<std::string> broken_promise(const StepContext&) const override
    {
        if (checkpointer_.failures() == 0) return std::nullopt;
        return base::join(checkpointer_.failures(), " checkpoints could not be written");
    }

 private:
    void write(StepContext& context, std::int64_t steps, bool beside)
    {
        context.state.at_once = false;
        if (!context.model.verify()) return;
        context.model.complete();
        checkpointer_.write(checkpoint_meta(plan_, ranks_of_samples(plan_, context.exchanges.size()),
                                            context.input.steps_per_epoch(), steps),
                            training_state(context.model, ranks_are_equal_, plan_.checkpoint.content), beside);
    }

    const TrainingPlan& plan_;
    base::ControlPage* page_;
    bool ranks_are_equal_;
    NewsBoard::Slot<CheckpointNews> slot_;
    Checkpointer checkpointer_;
    base::ControlRequest requested_ = base::ControlRequest::none;  // by noisegen, for after this step
    std::int64_t slot_end_ns_ = 0;                                 // rank 0: end of the last slot with a request
    bool over_ = false;
};

}  // namespace

namespace hook {

extern const HookCard checkpoints{
    .make = [](const HookParts& parts) -> std::shared_ptr<Hook> {
        const bool on = parts.plan.checkpoint.on();
        if (!on && !parts.plan.trials.empty()) return nullptr;
        const std::string reason =
            why_not(parts.plan, training_state(parts.model, parts.ranks_are_equal, parts.plan.checkpoint.content),
                    parts.exchanges.size());
        if (on && !reason.empty()) base::fail_usage(reason);
        if (!reason.empty()) return nullptr;  // noisegen's requests are not answered then
        return std::make_shared<Checkpoints>(parts);
    },
};

}  // namespace hook

}  // namespace ddl
