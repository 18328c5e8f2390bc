// Data-parallel training with named phases, traced: the victim of the noise.
#include "base/error.hpp"
#include "base/run_record.hpp"
#include "base/stop.hpp"
#include "ddl-workloads/parent_watch.hpp"
#include "ddl-workloads/placement.hpp"
#include "ddl-workloads/plan.hpp"
#include "ddl-workloads/process_metrics.hpp"
#include "ddl-workloads/training.hpp"

#ifdef CROSSTALK_DDL_TORCH
#include "ddl-workloads/models/torch/shelf.hpp"
#endif

#include <iostream>
#include <optional>

namespace {

base::Shelf<ddl::ModelCard> models()
{
#ifdef CROSSTALK_DDL_TORCH
    return ddl::model_shelf(ddl::torch_models());
#else
    return ddl::model_shelf({});
#endif
}

int train(const ddl::TrainingPlan& plan, const base::Shelf<ddl::ModelCard>& shelf)
{
    ddl::ProcessMetrics process_metrics{plan.trace ? plan.metrics : "none"};
    std::optional<ddl::ParentWatch> watch;
    if (base::job_rank().under_mpi) watch.emplace();
    ddl::Transport transport{ddl::connector(plan.transport, {plan.progress, plan.out}, plan.transport_cpus)};
    ddl::Training training{plan, shelf, transport, process_metrics};
    try {
        training.prepare();
        training.run();
        const nlohmann::ordered_json result = training.result();
        if (transport.rank() == 0 && !(std::cout << result.dump() << std::endl))
            base::fail("cannot write the result to the standard output; it is in run.json");
    } catch (...) {
        transport.abort(base::report_failure("ddl-train"));
    }
    if (!training.promise_kept()) {
        std::cerr << "ddl-train: ranks ended with different parameters: the exchange went wrong\n";
        return base::exit_promise_not_kept;
    }
    if (training.lost_checkpoints() == 0) return base::exit_fine;
    std::cerr << base::join("ddl-train: ", training.lost_checkpoints(), " checkpoints could not be written\n");
    return base::exit_promise_not_kept;
}

}  // namespace

int main(int argc, char** argv)
try {
    const base::Shelf<ddl::ModelCard> shelf = models();
    const std::optional<ddl::TrainingPlan> plan = ddl::parse_plan(argc, argv, shelf);
    if (!plan) return base::exit_fine;
    ddl::place(plan->cpus, plan->transport_cpus, plan->threads, argv);
    base::stop_on_signals();
    return train(*plan, shelf);
} catch (...) {
    return base::report_failure("ddl-train");
}
