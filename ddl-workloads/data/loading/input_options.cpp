// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/loading/input_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

InputOptions::InputOptions(base::Options& options, InputPlan& plan) : plan_{plan}
{
    options.group("Input");
    options.add("readers", plan.readers, "reader threads per rank; 0: the training's own thread reads", "NUMBER");
    options.add("queue", plan.queue, "batches read ahead", "NUMBER");
    options.add("transforms", plan.transformers, "threads per rank that assemble batches; 0: the readers do", "NUMBER");
    options.add_choice("augment", augment_, {"none", "flip", "crop", "flip+crop"},
                       "augment images: random flip and shift by up to 1/8");
    options.add_choice("corrupt", corrupt_, {"stop", "skip"}, "on a corrupt record: abort, or replace and count it");
    options.add_switch("drop-page-cache", drop_page_cache_, "drop input from the page cache after reading");
    options.add_switch("direct", direct_, "read input with O_DIRECT");
    options.add("data-dir", data_directory_, "directory of the data set (default: DIR/train/data)", "DIR");
}

void InputOptions::read() const
{
    plan_.augmentation = {.flip = augment_.starts_with("flip"), .crop = augment_.ends_with("crop")};
    plan_.skip_corrupt = corrupt_ == "skip";
    if (direct_ && drop_page_cache_)
        base::fail_usage("--direct bypasses the page cache, so --drop-page-cache has no effect");
    if (direct_ || drop_page_cache_) plan_.access = direct_ ? Access::direct : Access::uncached;
    plan_.data_directory = data_directory_;
    base::check_within(0, base::most_threads, plan_.readers, "--readers");
    base::check_within(0, base::most_threads, plan_.transformers, "--transforms");
    base::check_within(1, 1'000'000, plan_.queue, "--queue");
}

}  // namespace ddl
