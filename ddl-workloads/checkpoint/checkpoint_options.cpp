// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/checkpoint/checkpoint_options.hpp"

#include "base/cli/option_checks.hpp"

#include <string_view>

namespace ddl {

namespace {

int parse_gzip(const std::string& text)
{
    constexpr std::string_view name = "gzip=";
    if (text == "none") return 0;
    if (text.starts_with(name) && text.size() == name.size() + 1 && text.back() >= '1' && text.back() <= '9')
        return text.back() - '0';
    base::fail_usage("--checkpoint-compress must be none, or gzip=1 to gzip=9, not ", text);
}

}  // namespace

CheckpointOptions::CheckpointOptions(base::Options& options, CheckpointPlan& plan) : options_{options}, plan_{plan}
{
    options.group("Checkpoints");
    options.add(
        "checkpoint-every", every_,
        "write a checkpoint into DIR/train/checkpoints every N steps (100), every so often (30s) or as often as "
        "it costs a share of the training time (auto:3%), and when a signal ends the training",
        "NUMBER|TIME|auto:SHARE");
    options.add("checkpoint-format", plan_.format, "format of its files", "FORMAT");
    options.add_choice("checkpoint-content", plan_.content, {whole_training, weights_only},
                       "training: all that resuming needs; weights: parameters and buffers only");
    options.add("checkpoint-compress", compress_, "none, or gzip and its level from 1 to 9: gzip=4", "HOW");
    options.add_choice("checkpoint-mode", mode_, {"sync", "async"},
                       "sync: training waits until it is written; async: only until it is copied");
    options.add_choice("checkpoint-by", by_, {text(Writers::rank0), text(Writers::sharded), text(Writers::all)},
                       "rank 0 writes everything; or every rank its share, or everything, into a file of its own");
    options.add_choice("checkpoint-fsync", fsync_, {"yes", "no"}, "call fsync after writing");
    options.add("checkpoint-keep", plan_.keep, "keep the newest N checkpoints; 0: all", "NUMBER");
}

void CheckpointOptions::read() const
{
    if (!every_.empty()) parse_checkpoint_every(every_, plan_);
    checkpoint_formats().find(plan_.format);  // throws for a wrong name
    plan_.gzip = parse_gzip(compress_);
    plan_.beside = mode_ == "async";
    for (const Writers by : {Writers::rank0, Writers::sharded, Writers::all})
        if (text(by) == by_) plan_.by = by;
    plan_.durable = fsync_ == "yes";
    for (const char* option : {"checkpoint-format", "checkpoint-content", "checkpoint-compress", "checkpoint-mode",
                               "checkpoint-by", "checkpoint-fsync", "checkpoint-keep"})
        if (options_.given(option) && !plan_.on()) base::fail_usage("--", option, ": needs --checkpoint-every");
    base::check_at_least<std::int64_t>(0, plan_.keep, "--checkpoint-keep");
}

}  // namespace ddl
