// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/data/loading/input_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

void add_input_options(base::Options& options, InputPlan& plan)
{
    options.group("Input");
    options.add("readers", plan.readers, "reader threads per rank; 0: the training's own thread reads", "NUMBER");
    options.add("queue", plan.queue, "batches read ahead", "NUMBER");
    options.add("transforms", plan.transformers, "threads per rank that assemble batches; 0: the readers do", "NUMBER");
    options.add_choice("augment", "none", {"none", "flip", "crop", "flip+crop"},
                       "augment images: random flip and shift by up to 1/8");
    options.add_choice("corrupt", "stop", {"stop", "skip"}, "on a corrupt record: abort, or replace and count it");
    options.add_switch("drop-page-cache", "drop input from the page cache after reading");
    options.add_switch("direct", "read input with O_DIRECT");
    options.add_word("data-dir", "", "directory of the data set (default: DIR/train/data)", "DIR");
    options.then([&options, &plan] {
        const std::string& augment = options.text("augment");
        plan.augmentation = {.flip = augment.starts_with("flip"), .crop = augment.ends_with("crop")};
        plan.skip_corrupt = options.text("corrupt") == "skip";
        if (options.is_on("drop-page-cache")) plan.access = Access::uncached;
        if (options.is_on("direct")) plan.access = Access::direct;
        if (options.is_on("direct") && options.is_on("drop-page-cache"))
            base::fail_usage("--direct bypasses the page cache, so --drop-page-cache has no effect");
        plan.data_directory = options.text("data-dir");
        base::check_within(0, base::most_threads, plan.readers, "--readers");
        base::check_within(0, base::most_threads, plan.transformers, "--transforms");
        base::check_within(1, 1'000'000, plan.queue, "--queue");
    });
}

}  // namespace ddl
