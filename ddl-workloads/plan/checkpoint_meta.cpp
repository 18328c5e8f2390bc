// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/plan/checkpoint_meta.hpp"

#include "base/error.hpp"

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

template <class Value>
void check_same(const char* of, const char* option, const Value& was, const Value& is)
{
    if (was != is) base::fail_usage(of, ": that training had ", option, " ", was, ", not ", is);
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
            .rates = rates(plan),
            .content = plan.checkpoint.content};
}

void check_same_training(const CheckpointMeta& was, const CheckpointMeta& is, const char* option)
{
    check_same(option, "--model", was.model, is.model);
    check_same(option, "--data", was.data, is.data);
    check_same(option, "--optimizer", was.optimizer, is.optimizer);
    check_same(option, "--batch", was.batch, is.batch);
    check_same(option, "--accumulate", was.accumulate, is.accumulate);
    check_same(option, "--seed", was.seed, is.seed);
    check_same(option, "this number of ranks:", was.ranks, is.ranks);
    check_same(option, "this number of steps in an epoch:", was.steps_per_epoch, is.steps_per_epoch);
}

void check_resumes(const CheckpointMeta& was, CheckpointMeta is)
{
    constexpr auto option = "--resume";
    if (was.ranks == 1 && was.strategy != is.strategy) {
        check_same(option, "this number of samples in a step:", was.batch, is.batch * is.ranks);
        is.batch = was.batch;
        is.ranks = was.ranks;
    }
    check_same_training(was, is, option);
}

}  // namespace ddl
