// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/loading/input_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

InputOptions::InputOptions(base::Options& options, InputPlan& plan) : plan_{plan}
{
    options.group("Input");
    options.add("readers", plan.readers, "threads of each rank that read input", "NUMBER");
    options.add("queue", plan.queue, "batches that are read ahead", "NUMBER");
    options.add("transforms", plan.transformers,
                "threads of each rank that make batches of what is read; 0: the readers do", "NUMBER");
    options.add_choice("augment", augment_, {"none", "flip", "crop", "flip+crop"},
                       "change images at random: mirrored, moved by up to an eighth");
    options.add_choice("corrupt", corrupt_, {"stop", "skip"},
                       "what corrupt records do: end the training, or be counted while others stand in for them");
    options.add_switch("drop-page-cache", drop_page_cache_, "read input from the device, not from the page cache");
    options.add_switch("direct", direct_, "read input past the page cache (O_DIRECT)");
    options.add("data-dir", data_directory_, "where the data set is written and read; if not given DIR/train/data",
                "DIR");
}

void InputOptions::read() const
{
    plan_.augmentation = {.flip = augment_.starts_with("flip"), .crop = augment_.ends_with("crop")};
    plan_.skip_corrupt = corrupt_ == "skip";
    if (direct_ && drop_page_cache_) base::fail_usage("--direct passes the page cache: --drop-page-cache has no say");
    if (direct_ || drop_page_cache_) plan_.access = direct_ ? Access::direct : Access::uncached;
    plan_.data_directory = data_directory_;
    base::check_within(1, base::most_threads, plan_.readers, "--readers");
    base::check_within(0, base::most_threads, plan_.transformers, "--transforms");
    base::check_within(1, 1'000'000, plan_.queue, "--queue");
}

}  // namespace ddl
