// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/plan/end_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

void add_end_options(base::Options& options, EndPlan& plan)
{
    options.group("When it ends");
    options.add("steps", plan.steps, "stop after N steps (default 100 if nothing else ends the run)", "NUMBER");
    options.add("epochs", plan.epochs, "stop after N epochs", "NUMBER");
    options.add("duration", plan.duration, "stop after this time", "TIME");
    options.add_word("until-loss", "", "stop when the mean loss of all ranks over ten steps is at most this", "NUMBER");
    options.add_word("until-accuracy", "", "stop when accuracy on held-out samples reaches this after an epoch: 95%",
                     "PERCENT");
    options.add("stall-after", plan.stall_after,
                "abort with a report of which rank waits for which after this time without progress; 0: never", "TIME");
    options.then([&options, &plan] {
        if (const std::string& loss = options.text("until-loss"); !loss.empty())
            plan.until_loss = base::parsed<double>("--until-loss", loss);
        if (const std::string& accuracy = options.text("until-accuracy"); !accuracy.empty())
            plan.until_accuracy = base::parsed<base::Percent>("--until-accuracy", accuracy).fraction();
        base::check_at_least<std::int64_t>(0, plan.steps, "--steps");
        base::check_within<std::int64_t>(0, 1'000'000'000, plan.epochs, "--epochs");
        if (plan.duration.count() < 0) base::fail_usage("--duration must not be negative");
        if (plan.stall_after.count() < 0) base::fail_usage("--stall-after must not be negative");
        if (plan.until_accuracy && (*plan.until_accuracy <= 0.0 || *plan.until_accuracy > 1.0))
            base::fail_usage("--until-accuracy must be above 0% and at most 100%");
        const bool target = plan.until_loss || plan.until_accuracy;
        if (!target && plan.steps == 0 && plan.epochs == 0 && plan.duration.count() == 0) plan.steps = 100;
    });
}

}  // namespace ddl
