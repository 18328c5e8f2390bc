// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

CheckpointOptions::CheckpointOptions(base::Options& options, CheckpointPlan& plan) : options_{options}, plan_{plan}
{
    options.group("Checkpoints");
    options.add("checkpoint-every", every_,
                "write a checkpoint into DIR/train/checkpoints every N steps (100) or every so often (30s), and when a "
                "signal ends the training",
                "NUMBER|TIME");
    options.add("checkpoint-format", plan_.format, "format of its files", "FORMAT");
    options.add_choice("checkpoint-mode", mode_, {"sync", "async"},
                       "sync: training waits until it is written; async: only until it is copied");
    options.add_choice("checkpoint-by", by_, {"rank0", "sharded"}, "rank 0 writes everything, or every rank its share");
    options.add_choice("checkpoint-fsync", fsync_, {"yes", "no"}, "call fsync after writing");
    options.add("checkpoint-keep", plan_.keep, "keep the newest N checkpoints; 0: all", "NUMBER");
}

void CheckpointOptions::read() const
{
    if (!every_.empty()) parse_checkpoint_every(every_, plan_);
    checkpoint_formats().find(plan_.format);  // throws for a wrong name
    plan_.beside = mode_ == "async";
    plan_.sharded = by_ == "sharded";
    plan_.durable = fsync_ == "yes";
    for (const char* option :
         {"checkpoint-format", "checkpoint-mode", "checkpoint-by", "checkpoint-fsync", "checkpoint-keep"})
        if (options_.given(option) && !plan_.on()) base::fail_usage("--", option, ": needs --checkpoint-every");
    base::check_at_least<std::int64_t>(0, plan_.keep, "--checkpoint-keep");
}

}  // namespace ddl
