// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/plan/end_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

EndOptions::EndOptions(base::Options& options, EndPlan& plan) : plan_{plan}
{
    options.group("When it ends");
    options.add("steps", plan.steps, "stop after N steps (default 100 if nothing else ends the run)", "NUMBER");
    options.add("epochs", plan.epochs, "stop after N epochs", "NUMBER");
    options.add("duration", plan.duration, "stop after this time", "TIME");
    options.add("until-loss", until_loss_, "stop when the mean loss of all ranks over ten steps is at most this",
                "NUMBER");
    options.add("until-accuracy", until_accuracy_,
                "stop when accuracy on held-out samples reaches this after an epoch: 95%", "PERCENT");
    options.add("stall-after", plan.stall_after,
                "abort with a report of which rank waits for which after this time without progress; 0: never", "TIME");
}

void EndOptions::read() const
{
    if (!until_loss_.empty()) plan_.until_loss = base::parsed<double>("--until-loss", until_loss_);
    if (!until_accuracy_.empty())
        plan_.until_accuracy = base::parsed<base::Percent>("--until-accuracy", until_accuracy_).fraction();
    base::check_at_least<std::int64_t>(0, plan_.steps, "--steps");
    base::check_within<std::int64_t>(0, 1'000'000'000, plan_.epochs, "--epochs");
    if (plan_.duration.count() < 0) base::fail_usage("--duration must not be negative");
    if (plan_.stall_after.count() < 0) base::fail_usage("--stall-after must not be negative");
    if (plan_.until_accuracy && (*plan_.until_accuracy <= 0.0 || *plan_.until_accuracy > 1.0))
        base::fail_usage("--until-accuracy must be above 0% and at most 100%");
    const bool target = plan_.until_loss || plan_.until_accuracy;
    if (!target && plan_.steps == 0 && plan_.epochs == 0 && plan_.duration.count() == 0) plan_.steps = 100;
}

}  // namespace ddl
