// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/models/optimizer_options.hpp"

#include "base/cli/option_checks.hpp"

namespace ddl {

namespace {

constexpr double sgd_rate = 0.01;
constexpr double adamw_rate = 0.001;

}  // namespace

void add_optimizer_options(base::Options& options, OptimizerPlan& plan)
{
    options.add_choice("optimizer", plan.name, {"sgd", "adamw"}, "how parameters are updated");
    options.add_word("lr", "", "learning rate (default: 0.01 for sgd, 0.001 for adamw)", "NUMBER");
    options.add("momentum", plan.momentum, "momentum of sgd", "NUMBER");
    options.add("weight-decay", plan.weight_decay, "weight decay of the optimizer", "NUMBER");
    options.then([&options, &plan] {
        if (options.given("momentum") && plan.name != "sgd")
            base::fail_usage("--momentum is for sgd, not for ", plan.name);
        const std::string& rate = options.text("lr");
        const double usual_rate = plan.name == "sgd" ? sgd_rate : adamw_rate;
        plan.learning_rate = rate.empty() ? usual_rate : base::parsed<double>("--lr", rate);
        base::check_at_least(0.0, plan.learning_rate, "--lr");
        base::check_at_least(0.0, plan.momentum, "--momentum");
        base::check_at_least(0.0, plan.weight_decay, "--weight-decay");
    });
}

}  // namespace ddl
