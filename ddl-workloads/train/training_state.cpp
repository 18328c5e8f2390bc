#include "ddl-workloads/train/training_state.hpp"

#include "base/error.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/train/resume.hpp"

#include <algorithm>
#include <span>
#include <string>

namespace ddl {

namespace {

std::string rates(const TrainingPlan& plan)
{
    std::string text = base::join("--lr ", plan.optimizer.learning_rate);
    if (plan.optimizer.name == "sgd") text += base::join(" --momentum ", plan.optimizer.momentum);
    text += base::join(" --weight-decay ", plan.optimizer.weight_decay);
    if (plan.input.augmentation.flip || plan.input.augmentation.crop)
        text += base::join(" --augment ", plan.input.augmentation.flip ? "flip" : "",
                           plan.input.augmentation.flip && plan.input.augmentation.crop ? "+" : "",
                           plan.input.augmentation.crop ? "crop" : "");
    return text;
}

}  // namespace

CheckpointMeta checkpoint_meta(const TrainingPlan& plan, int ranks, std::int64_t steps_per_epoch, std::int64_t steps)
{
    return {.step = steps,
            .steps_per_epoch = steps_per_epoch,
            .seed = plan.seed,
            .batch = plan.batch,
            .accumulate = plan.accumulate,
            .ranks = ranks,
            .model = plan.model,
            .data = plan.data,
            .strategy = plan.strategy,
            .optimizer = plan.optimizer.name,
            .rates = rates(plan)};
}

std::vector<StateTensor> training_state(Model& model, bool ranks_are_equal)
{
    std::vector<StateTensor> all = model.state();
    if (!ranks_are_equal)
        for (StateTensor& tensor : all) tensor.owner = Owner::each;
    return all;
}

void check_can_be_written(const TrainingPlan& plan, const std::vector<StateTensor>& state)
{
    if (state.empty()) base::fail_usage("--checkpoint-every: ", plan.model, " has no state to write");
    const auto own = [](const StateTensor& tensor) { return tensor.owner == Owner::each; };
    if (!plan.checkpoint.sharded && std::any_of(state.begin(), state.end(), own))
        base::fail_usage("--checkpoint-by rank0: not all of the state of ", plan.model,
                         " is there; --checkpoint-by sharded writes it all");
}

std::filesystem::path as_rank0_found(const std::filesystem::path& checkpoint, ExchangeThread& exchanges)
{
    std::string path = checkpoint.string();
    std::uint64_t size = path.size();
    exchanges.broadcast(std::as_writable_bytes(std::span{&size, 1}), 0).get();
    path.resize(size);
    exchanges.broadcast(std::as_writable_bytes(std::span{path}), 0).get();
    return path;
}

void restore(const std::filesystem::path& checkpoint, const CheckpointMeta& is, Model& model, bool ranks_are_equal,
             int rank)
{
    const CheckpointReader reader{checkpoint};
    check_same_training(reader.meta(), is);
    reader.read(training_state(model, ranks_are_equal), rank);
    model.restored();
    if (rank != 0) return;
    base::warn("going on after step ", is.step, " of ", checkpoint.string());
    if (const std::string& was = reader.meta().rates; !was.empty() && was != is.rates)
        base::warn("not as it would have gone on: ", is.rates, ", earlier ", was);
}

}  // namespace ddl
