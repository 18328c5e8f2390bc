// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/optimizer_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

namespace {

constexpr double sgd_rate = 0.01;
constexpr double adamw_rate = 0.001;

}  // namespace

OptimizerOptions::OptimizerOptions(base::Options& options, OptimizerPlan& plan) : options_{options}, plan_{plan}
{
    options.add_choice("optimizer", plan.name, {"sgd", "adamw"}, "how parameters are updated");
    options.add("lr", rate_, "learning rate (default: 0.01 for sgd, 0.001 for adamw)", "NUMBER");
    options.add("momentum", plan.momentum, "momentum of sgd", "NUMBER");
    options.add("weight-decay", plan.weight_decay, "weight decay of the optimizer", "NUMBER");
}

void OptimizerOptions::read() const
{
    if (options_.given("momentum") && plan_.name != "sgd")
        base::fail_usage("--momentum is for sgd, not for ", plan_.name);
    const double usual_rate = plan_.name == "sgd" ? sgd_rate : adamw_rate;
    plan_.learning_rate = rate_.empty() ? usual_rate : base::parsed<double>("--lr", rate_);
    base::check_at_least(0.0, plan_.learning_rate, "--lr");
    base::check_at_least(0.0, plan_.momentum, "--momentum");
    base::check_at_least(0.0, plan_.weight_decay, "--weight-decay");
}

}  // namespace ddl
