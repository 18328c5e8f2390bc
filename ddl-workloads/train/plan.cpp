#include "ddl-workloads/train/plan.hpp"

#include "base/contract/run_directory.hpp"
#include "base/launcher.hpp"
#include "base/option_checks.hpp"
#include "base/options.hpp"
#include "ddl-workloads/checkpoint/checkpoint_options.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/models/optimizer_options.hpp"

#include <iostream>

namespace ddl {

namespace {

void list(const base::Registry<ModelCard>& models)
{
    models.list(std::cout);
    data_sets().list(std::cout);
    strategies().list(std::cout);
    transports().list(std::cout);
    base::flush_stdout();
}

// Wrong names and options are found here, before any rank waits for another.
template <class Registry>
void check_name(const Registry& registry, const std::string& text)
{
    const base::PlugInText plug_in = base::parse_plug_in(text);
    registry.settings(registry.find(plug_in.name), plug_in.options);
}

void check(const TrainingPlan& plan, const base::Registry<ModelCard>& models)
{
    check_name(models, plan.model);
    check_name(data_sets(), plan.data);
    check_name(strategies(), plan.strategy);
    check_name(transports(), plan.transport);
    base::check_at_least<std::int64_t>(1, plan.batch, "--batch");
    base::check_at_least(1, plan.accumulate, "--accumulate");
    base::check_at_least<std::int64_t>(0, plan.steps, "--steps");
    base::check_within<std::int64_t>(0, 1'000'000'000, plan.epochs, "--epochs");
    base::check_within(1, base::most_threads, plan.threads, "--threads");
    if (plan.duration.count() < 0) base::fail_usage("--duration must not be negative");
    if (plan.stall_after.count() < 0) base::fail_usage("--stall-after must not be negative");
    if (plan.control_delay.count() < 0) base::fail_usage("--control-delay must not be negative");
    if (plan.until_accuracy && (*plan.until_accuracy <= 0.0 || *plan.until_accuracy > 1.0))
        base::fail_usage("--until-accuracy must be above 0% and at most 100%");
    if (plan.out.empty()) base::fail_usage("--out DIR is needed: where the results go");
}

}  // namespace

std::optional<TrainingPlan> parse_plan(int argc, char** argv, const base::Registry<ModelCard>& models)
{
    TrainingPlan plan;
    plan.model = models.names().front();
    plan.transport = base::job_rank().under_mpi ? "mpi" : "self";
    std::string progress = format(plan.progress);
    std::string cpus;
    std::string transport_cpus;
    std::string out;
    std::string until_loss;
    std::string until_accuracy;
    std::vector<std::string> delays;
    bool list_all = false;

    base::Options options{"ddl-train", "data-parallel training with named phases, traced"};
    options.add("model", plan.model, "what is trained, with its options: resnet18[width=32]");
    options.add("data", plan.data, "what it is trained on");
    options.add("strategy", plan.strategy, "how ranks exchange gradients");
    options.add("transport", plan.transport, "what carries the exchange; mpi under mpirun and srun, else self");
    options.add("progress", progress, "how the transport thread waits: spin, yield or sleep=50us");
    const OptimizerOptions optimizer{options, plan.optimizer};
    options.add("batch", plan.batch, "samples of one rank and pass");
    options.add("accumulate", plan.accumulate, "passes of a step, whose gradients are exchanged once");
    options.add("steps", plan.steps, "end after so many; with no end given: 100");
    options.add("epochs", plan.epochs, "end after so many passes over the data");
    options.add("duration", plan.duration, "end after so long");
    options.add("until-loss", until_loss, "end when the mean loss of all ranks over ten steps is no higher");
    options.add("until-accuracy", until_accuracy,
                "end when so many of the held-out samples are guessed right after an epoch: 95%");
    options.add("stall-after", plan.stall_after,
                "end with a report of who waits for whom if nothing goes on for so long; 0: wait for ever");
    options.add("seed", plan.seed, "of initial parameters and the order of the data");
    options.add("threads", plan.threads, "of each rank's computing, OpenBLAS and OpenMP included");
    options.add("cpus", cpus,
                "bind every thread: dealt out to the ranks of a node, by whole cores where there are enough");
    options.add("transport-cpus", transport_cpus, "bind each rank's transport thread elsewhere: dealt out likewise");
    const InputOptions input{options, plan.input};
    const CheckpointOptions checkpoint{options, plan.checkpoint};
    options.add(
        "resume", plan.resume,
        "go on after the newest sound checkpoint of that run, or after that checkpoint; auto: of the run --out, "
        "whose part is kept as train.1, from the beginning if there is none",
        "DIR|auto");
    options.add("control-delay", plan.control_delay,
                "delay a step by so long while noisegen's control.delay asks for it");
    options.add("delay", delays,
                "RANK:PHASE:TIME[:every=N][:busy]: delay that rank in that phase of each (Nth) step, asleep or busy",
                "DELAY");
    const RecordingOptions recording{options, plan.recording};
    options.add("out", out, "directory of the run; the training's part is DIR/train");
    options.add_switch("list", list_all, "show all models, data sets, strategies and transports, and end");
    options.example("mpirun -n 2 ddl-train --model resnet18[width=32] --strategy ddp --steps 500 --cpus 0-1 --out DIR");
    options.example(
        "ddl-train --model emulated[compute=80ms,gradients=100MiB] --data synthetic --duration 60s --out DIR");
    options.epilogue(
        "Exit codes: 0 fine (also when stopped by a signal), 1 failed, 2 wrong usage, 3 ranks ended with "
        "different parameters or a checkpoint could not be written, 77 not possible on this machine.");
    if (!options.parse(argc, argv)) return std::nullopt;
    if (list_all) {
        list(models);
        return std::nullopt;
    }

    if (!options.given("transport") && plan.transport == "self") base::check_job_size(1);
    if (options.given("progress") && base::parse_plug_in(plan.transport).name != "mpi")
        base::fail_usage("--progress is of the transport mpi, not of ", plan.transport);
    plan.progress = parse_progress(progress);
    optimizer.read();
    input.read();
    recording.read();
    checkpoint.read();
    if (!cpus.empty()) plan.cpus = base::parse_cpus(cpus);
    if (!transport_cpus.empty()) plan.transport_cpus = base::parse_cpus(transport_cpus);
    plan.out = out;
    if (plan.input.data_directory.empty()) plan.input.data_directory = plan.out / base::part::train / "data";
    if (!until_loss.empty()) plan.until_loss = base::parsed<double>("--until-loss", until_loss);
    if (!until_accuracy.empty())
        plan.until_accuracy = base::parsed<base::Percent>("--until-accuracy", until_accuracy).fraction();
    for (const std::string& text : delays) plan.delays.push_back(parse_injected_delay(text));
    const bool target = plan.until_loss || plan.until_accuracy;
    if (!target && plan.steps == 0 && plan.epochs == 0 && plan.duration.count() == 0) plan.steps = 100;
    check(plan, models);
    return plan;
}

}  // namespace ddl
