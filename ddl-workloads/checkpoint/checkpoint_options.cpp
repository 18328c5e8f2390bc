// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

CheckpointOptions::CheckpointOptions(base::Options& options, CheckpointPlan& plan) : options_{options}, plan_{plan}
{
    options.group("Checkpoints");
    options.add("checkpoint-every", every_,
                "write a checkpoint into DIR/train/checkpoints after so many steps (100) or so long (30s), and when a "
                "signal ends the training",
                "NUMBER|TIME");
    options.add_choice("checkpoint-mode", mode_, {"sync", "async"},
                       "the training waits until it is written, or only until it is copied");
    options.add_choice("checkpoint-by", by_, {"rank0", "sharded"},
                       "rank 0 writes all, or every rank a file with its share");
    options.add_choice("checkpoint-fsync", fsync_, {"yes", "no"}, "wait until it is on the device");
    options.add("checkpoint-keep", plan_.keep, "of this training's checkpoints the newest so many; 0: all", "NUMBER");
}

void CheckpointOptions::read() const
{
    if (!every_.empty()) parse_checkpoint_every(every_, plan_);
    plan_.beside = mode_ == "async";
    plan_.sharded = by_ == "sharded";
    plan_.durable = fsync_ == "yes";
    for (const char* option : {"checkpoint-mode", "checkpoint-by", "checkpoint-fsync", "checkpoint-keep"})
        if (options_.given(option) && !plan_.on())
            base::fail_usage("--", option, ": there are no checkpoints without --checkpoint-every");
    base::check_at_least<std::int64_t>(0, plan_.keep, "--checkpoint-keep");
}

}  // namespace ddl
