// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/plan/parse_plan.hpp"

#include "base/cli/option_checks.hpp"
#include "base/cli/options.hpp"
#include "base/contract/run_directory.hpp"
#include "base/system/launcher.hpp"
#include "ddl-workloads/checkpoint/checkpoint_options.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/models/optimizer_options.hpp"
#include "ddl-workloads/plan/plan.hpp"
#include "ddl-workloads/strategies/coded/soft_errors.hpp"

#include <algorithm>
#include <iostream>

namespace ddl {

namespace {

void list(const base::Registry<ModelCard>& models, bool json)
{
    base::list(std::cout,
               {models.catalogue(), data_sets().catalogue(), strategies().catalogue(), transports().catalogue(),
                guard_registry().catalogue(), checkpoint_formats().catalogue()},
               json);
    base::flush_stdout();
}

// Detects wrong names and options here, before any rank waits for another.
template <class Registry>
void check_name(const Registry& registry, const std::string& text)
{
    const base::PlugInText plug_in = base::parse_plug_in(text);
    registry.settings(registry.find(plug_in.name), plug_in.options);
}

// Options that choose the model, the data set, the strategy and the transport.
void add_plug_in_options(base::Options& options, TrainingPlan& plan, const base::Registry<ModelCard>& models)
{
    plan.model = models.names().front();
    const std::vector<std::string> known = transports().names();
    const bool has_mpi = std::find(known.begin(), known.end(), "mpi") != known.end();
    plan.transport = has_mpi && base::job_rank().under_mpi ? "mpi" : "self";
    options.add("model", plan.model, "model and options: resnet18[width=32]", "MODEL");
    options.add("data", plan.data, "data set and options: synthetic[samples=5120]", "SET");
    options.add("strategy", plan.strategy, "how ranks exchange gradients", "STRATEGY");
    options.add("transport", plan.transport,
                "transport of the exchange (default: mpi under mpirun and srun, else self)", "TRANSPORT");
    options.add_word("progress", format(plan.progress),
                     "how the transport thread waits: auto, spin, yield or sleep=50us", "HOW");
    options.then([&options, &plan, &models] {
        if (!options.given("transport") && plan.transport == "self") base::check_job_size(1);
        plan.progress_given = options.given("progress");
        plan.progress = parse_progress(options.text("progress"));
        check_name(models, plan.model);
        check_name(data_sets(), plan.data);
        check_name(strategies(), plan.strategy);
        check_name(transports(), plan.transport);
    });
}

// Trials define their own number of steps, so options that end the training or write between steps are refused.
void read_trials(TrainingPlan& plan, const std::string& file, const base::Options& options)
{
    for (const char* name :
         {"steps", "epochs", "duration", "until-loss", "until-accuracy", "guard", "on-guard", "replicas-every",
          "golden", "checkpoint-every", "trace", "openmetrics", "store", "detect", "bit-error-rate"})
        if (options.given(name)) base::fail_usage("--trials: --", name, " cannot be combined with it");
    plan.trials = base::read_trials(file);
    plan.recording.trace = false;
}

void check_graphs(const TrainingPlan& plan)
{
    if (!plan.device.graphs) return;
    if (plan.accumulate > 1) base::fail_usage("--cuda-graphs needs --accumulate 1");
    if (!plan.alterations.empty() || !plan.trials.empty())
        base::fail_usage("--cuda-graphs cannot be combined with ", plan.trials.empty() ? "--alter" : "--trials");
}

}  // namespace

std::optional<TrainingPlan> parse_plan(int argc, char** argv, const base::Registry<ModelCard>& models,
                                       const std::vector<base::OptionCard>& of_hooks)
{
    TrainingPlan plan;
    std::string out;
    std::string trials;
    bool list_all = false;

    base::Options options{"ddl-train", "data-parallel training with named phases, traced"};
    options.group("What");
    add_plug_in_options(options, plan, models);
    add_optimizer_options(options, plan.optimizer);
    options.add("batch", plan.batch, "samples per rank and pass", "NUMBER");
    options.add("accumulate", plan.accumulate, "forward/backward passes per step (gradient accumulation)", "NUMBER");
    options.add("seed", plan.seed, "seed of initial parameters and data order", "NUMBER");
    options.add_switch("list", list_all,
                       "list all models, data sets, strategies, transports, guards and checkpoint formats, and exit");
    options.then([&plan] {
        base::check_at_least<std::int64_t>(1, plan.batch, "--batch");
        base::check_at_least(1, plan.accumulate, "--accumulate");
    });
    add_end_options(options, plan.ends);
    add_placement_options(options, plan.placement);
    add_device_options(options, plan.device);
    add_input_options(options, plan.input);
    const CheckpointOptions checkpoint{options, plan.checkpoint};
    options.then([&checkpoint] { checkpoint.read(); });
    options.add(
        "resume", plan.resume,
        "resume from the newest sound checkpoint of this run, or from this checkpoint; auto: from run --out, if it "
        "has one (its training is kept as train.1)",
        "DIR|auto");
    add_delay_options(options, plan.delays);
    add_alteration_options(options, plan.alterations);
    add_store_options(options, plan.store);
    options.add("soft-errors", plan.soft_errors,
                "errors in coded blocks of weights, such as rate=3e-4,density=0.5%,amplitude=5,"
                "sites=forward+backward+update,kind=add|bit,seed=1 (all but rate are the defaults)",
                "ERRORS");
    options.then([&plan] { parse_soft_errors(plan.soft_errors); });
    add_guard_options(options, plan.guards);
    options.add(
        "trials", trials,
        "run these trials in one warm process, with results in DIR/train/outcomes.csv; when repeated, continues "
        "after the last trial",
        "TRIALS.csv");
    options.add_switch("check", plan.only_check,
                       "only check --trials; exit code 2 if this training lacks something that it names");
    for (const base::OptionCard& card : of_hooks)
        options.add(card.name, plan.hook_options[card.name] = card.default_text, card.help);
    add_recording_options(options, plan.recording);
    options.add("out", out, "directory of the run (required); the training writes to DIR/train", "DIR");
    options.add_switch("json", plan.json,
                       "print the result as one line of JSON at the end; with --list: the list as JSON");
    options.example("mpirun -n 2 ddl-train --model resnet18[width=32] --strategy ddp --steps 500 --cpus 0-1 --out DIR");
    options.example(
        "ddl-train --model emulated[compute=80ms,gradients=100MiB] --data synthetic --duration 60s --out DIR");
    options.epilogue(
        "Exit codes: 0 fine (also when stopped by a signal); 1 failed; 2 wrong usage; 3 ranks ended with different "
        "parameters, a product was wrong, a checkpoint could not be written, a guard or repeated rollbacks stopped it "
        "or a step of --alter was not reached; 77 not possible on this machine.");
    if (!options.parse(argc, argv)) return std::nullopt;
    if (list_all) {
        list(models, plan.json);
        return std::nullopt;
    }

    options.check();
    if (!trials.empty()) read_trials(plan, trials, options);
    if (plan.only_check && trials.empty()) base::fail_usage("--check needs --trials");
    check_choices(plan, models);
    check_graphs(plan);
    if (!plan.trials.empty() || !plan.guards.golden.empty()) plan.device.deterministic = true;
    if (out.empty()) base::fail_usage("give --out DIR for the results");
    plan.out = out;
    if (plan.input.data_directory.empty()) plan.input.data_directory = plan.out / base::part::train / "data";
    return plan;
}

}  // namespace ddl
