// SPDX-License-Identifier: Apache-2.0
// Data-parallel training with named phases, recorded in a trace: the victim of the noise.
#include "base/error.hpp"
#include "base/json.hpp"
#include "base/system/launcher.hpp"
#include "base/system/stop.hpp"
#include "ddl-workloads/instruments/process_metrics.hpp"
#include "ddl-workloads/models/torch_models.hpp"
#include "ddl-workloads/plan/parse_plan.hpp"
#include "ddl-workloads/plan/placement.hpp"
#include "ddl-workloads/train/summary.hpp"
#include "ddl-workloads/train/training.hpp"
#include "ddl-workloads/train/watch/parent_watch.hpp"

#include <nlohmann/json.hpp>

#include <iostream>
#include <optional>
#include <string>
#include <vector>

namespace {

int train(const ddl::TrainingPlan& plan, const base::Registry<ddl::ModelCard>& registry)
{
    ddl::ProcessMetrics process_metrics{plan.recording.trace ? plan.recording.metrics : "none"};
    std::optional<ddl::ParentWatch> watch;
    if (base::job_rank().under_mpi) watch.emplace();
    ddl::ExchangeThread exchanges{
        ddl::connector(plan.transport, {plan.progress, plan.out}, plan.placement.transport_cpus)};
    ddl::Training training{plan, registry, exchanges, process_metrics};
    try {
        training.prepare();
        if (plan.only_check) {
            training.end_unused();
            if (exchanges.rank() == 0) std::cout << plan.trials.size() << " trials can be made\n" << std::flush;
            return base::exit_fine;
        }
        training.run();
        const nlohmann::ordered_json result = training.result();
        if (exchanges.rank() == 0) {
            if (plan.json)
                std::cout << base::json_text(result, base::one_line) << "\n";
            else
                ddl::print(std::cout, result, exchanges.size(), plan.out);
            if (!std::cout.flush()) base::fail("cannot write the result to stdout; it is in run.json");
        }
    } catch (...) {
        exchanges.abort(base::report_failure("ddl-train"));
    }
    const std::vector<std::string> broken = training.broken_promises();
    for (const std::string& promise : broken) base::warn(promise);
    return broken.empty() ? base::exit_fine : base::exit_promise_not_kept;
}

}  // namespace

int main(int argc, char** argv)
try {
    const base::Registry<ddl::ModelCard> registry = ddl::model_registry(ddl::torch_models());
    const std::optional<ddl::TrainingPlan> plan = ddl::parse_plan(argc, argv, registry);
    if (!plan) return base::exit_fine;
    ddl::place(plan->placement, argv);
    base::stop_on_signals();
    return train(*plan, registry);
} catch (...) {
    return base::report_failure("ddl-train");
}
