#include "ddl-workloads/plan.hpp"

#include "base/job_size.hpp"
#include "base/options.hpp"
#include "base/run_record.hpp"
#include "ddl-workloads/data/data_set.hpp"

#include <iostream>

namespace ddl {

namespace {

constexpr double sgd_rate = 0.01;
constexpr double adamw_rate = 0.001;
constexpr int most_threads = 1024;  // of a kind in a rank

void list(const base::Shelf<ModelCard>& models)
{
    models.list(std::cout);
    data_sets().list(std::cout);
    strategies().list(std::cout);
    links().list(std::cout);
    base::flush_stdout();
}

// Wrong names and options are found here, before any rank waits for another.
template <class Shelf>
void check_name(const Shelf& shelf, const std::string& text)
{
    const base::PlugInText plug_in = base::parse_plug_in(text);
    shelf.settings(shelf.find(plug_in.name), plug_in.options);
}

// Of an option that is empty if it is not given.
template <class T>
T parsed(const char* option, const std::string& text)
{
    try {
        return base::parse<T>(text);
    } catch (const base::UsageError& error) {
        base::fail_usage(option, ": ", error.what());
    }
}

template <class Number>
void check_at_least(Number least, Number value, const char* option)
{
    if (value < least) base::fail_usage(option, " must be at least ", least, ", not ", value);
}

template <class Number>
void check_within(Number least, Number most, Number value, const char* option)
{
    check_at_least(least, value, option);
    if (value > most) base::fail_usage(option, " must be at most ", most, ", not ", value);
}

void check(const TrainingPlan& plan, const base::Shelf<ModelCard>& models)
{
    check_name(models, plan.model);
    check_name(data_sets(), plan.data);
    check_name(strategies(), plan.strategy);
    check_name(links(), plan.transport);
    check_at_least<std::int64_t>(1, plan.batch, "--batch");
    check_at_least(1, plan.accumulate, "--accumulate");
    check_at_least<std::int64_t>(0, plan.steps, "--steps");
    check_within<std::int64_t>(0, 1'000'000'000, plan.epochs, "--epochs");
    check_within(1, most_threads, plan.threads, "--threads");
    check_within(1, most_threads, plan.readers, "--readers");
    check_within(0, most_threads, plan.transformers, "--transforms");
    check_within(1, 1'000'000, plan.queue, "--queue");
    check_at_least<std::int64_t>(0, plan.checkpoint.keep, "--checkpoint-keep");
    check_at_least(0.0, plan.optimizer.learning_rate, "--lr");
    check_at_least(0.0, plan.optimizer.momentum, "--momentum");
    check_at_least(0.0, plan.optimizer.weight_decay, "--weight-decay");
    if (plan.duration.count() < 0) base::fail_usage("--duration must not be negative");
    if (plan.stall_after.count() < 0) base::fail_usage("--stall-after must not be negative");
    if (plan.control_delay.count() < 0) base::fail_usage("--control-delay must not be negative");
    if (plan.until_accuracy && (*plan.until_accuracy <= 0.0 || *plan.until_accuracy > 1.0))
        base::fail_usage("--until-accuracy must be above 0% and at most 100%");
    if (!plan.trace && plan.instrument != DetailLevel::L0)
        base::fail_usage("--instrument ", text(plan.instrument), " needs a trace: --trace on");
    if (plan.out.empty()) base::fail_usage("--out DIR is needed: where the results go");
}

}  // namespace

std::optional<TrainingPlan> parse_plan(int argc, char** argv, const base::Shelf<ModelCard>& models)
{
    TrainingPlan plan;
    plan.model = models.names().front();
    plan.transport = base::job_rank().under_mpi ? "mpi" : "self";
    std::string progress = format(plan.progress);
    std::string rate;
    std::string cpus;
    std::string transport_cpus;
    std::string trace = "on";
    std::string instrument = text(plan.instrument);
    std::string trace_steps;
    std::string out;
    std::string data_directory;
    std::string until_loss;
    std::string until_accuracy;
    std::vector<std::string> delays;
    std::string augment = "none";
    std::string corrupt = "stop";
    bool drop_page_cache = false;
    bool direct = false;
    std::string checkpoint_every;
    std::string checkpoint_mode = "sync";
    std::string checkpoint_by = "rank0";
    std::string checkpoint_fsync = "yes";
    bool list_all = false;

    base::Options options{"ddl-train", "data-parallel training with named phases, traced"};
    options.add("model", plan.model, "what is trained, with its options: resnet18[width=32]");
    options.add("data", plan.data, "what it is trained on");
    options.add("strategy", plan.strategy, "how ranks exchange gradients");
    options.add("transport", plan.transport, "what carries the exchange; mpi under mpirun and srun, else self");
    options.add("progress", progress, "how the transport thread waits: spin, yield or sleep=50us");
    options.add_choice("optimizer", plan.optimizer.name, {"sgd", "adamw"}, "how parameters are updated");
    options.add("lr", rate, "learning rate; if not given 0.01 for sgd, 0.001 for adamw");
    options.add("momentum", plan.optimizer.momentum, "of sgd");
    options.add("weight-decay", plan.optimizer.weight_decay, "of the optimizer");
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
    options.add("readers", plan.readers, "threads of each rank that read input");
    options.add("queue", plan.queue, "batches that are read ahead");
    options.add("transforms", plan.transformers,
                "threads of each rank that make batches of what is read; 0: the readers do");
    options.add_choice("augment", augment, {"none", "flip", "crop", "flip+crop"},
                       "change images at random: mirrored, moved by up to an eighth");
    options.add_choice("corrupt", corrupt, {"stop", "skip"},
                       "what corrupt records do: end the training, or be counted while others stand in for them");
    options.add_switch("drop-page-cache", drop_page_cache, "read input from the device, not from the page cache");
    options.add_switch("direct", direct, "read input past the page cache (O_DIRECT)");
    options.add("data-dir", data_directory, "where the data set is written and read; if not given DIR/train/data");
    options.add("checkpoint-every", checkpoint_every,
                "write a checkpoint into DIR/train/checkpoints after so many steps (100) or so long (30s), and when a "
                "signal ends the training");
    options.add_choice("checkpoint-mode", checkpoint_mode, {"sync", "async"},
                       "the training waits until it is written, or only until it is copied");
    options.add_choice("checkpoint-by", checkpoint_by, {"rank0", "sharded"},
                       "rank 0 writes all, or every rank a file with its share");
    options.add_choice("checkpoint-fsync", checkpoint_fsync, {"yes", "no"}, "wait until it is on the device");
    options.add("checkpoint-keep", plan.checkpoint.keep, "of this training's checkpoints the newest so many; 0: all");
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
    options.add_choice("trace", trace, {"on", "off"}, "record an OTF2 trace");
    options.add("trace-memory", plan.trace_memory,
                "the most that a rank's events take before they go to the file, which stops the thread that finds it "
                "full (a region TRACE BUFFER FLUSH); 0: 256KiB for each thread",
                "SIZE");
    options.add_choice(
        "instrument", instrument, {"L0", "L1", "L2", "L3"},
        "what the trace holds: L0 phases and buckets, L1 also the model's modules and the gradient's norm, "
        "L2 also LibTorch's operators, L3 also those inside them");
    options.add("trace-steps", trace_steps,
                "FIRST:END:EVERY: only steps FIRST, FIRST + EVERY, ... before END show more than L0; if not given all");
    options.add(
        "metrics", plan.metrics,
        "what the trace counts of each rank's process, every tenth step: auto (what this machine has of PAPI's "
        "presets and of the kernel's task-clock, context-switches, cpu-migrations, minor-faults, major-faults), none, "
        "or events by name: PAPI_TOT_INS,context-switches",
        "auto|none|EVENT,...");
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

    if (options.given("momentum") && plan.optimizer.name != "sgd")
        base::fail_usage("--momentum is of sgd, not of ", plan.optimizer.name);
    if (!options.given("transport") && plan.transport == "self") base::check_job_size(1);
    if (options.given("progress") && base::parse_plug_in(plan.transport).name != "mpi")
        base::fail_usage("--progress is of the transport mpi, not of ", plan.transport);
    plan.progress = parse_progress(progress);
    const double usual_rate = plan.optimizer.name == "sgd" ? sgd_rate : adamw_rate;
    plan.optimizer.learning_rate = rate.empty() ? usual_rate : parsed<double>("--lr", rate);
    if (!cpus.empty()) plan.cpus = base::parse_cpus(cpus);
    if (!transport_cpus.empty()) plan.transport_cpus = base::parse_cpus(transport_cpus);
    plan.trace = trace == "on";
    plan.augmentation = {.flip = augment.starts_with("flip"), .crop = augment.ends_with("crop")};
    plan.skip_corrupt = corrupt == "skip";
    if (direct && drop_page_cache) base::fail_usage("--direct passes the page cache: --drop-page-cache has no say");
    if (direct || drop_page_cache) plan.access = direct ? Access::direct : Access::uncached;
    plan.instrument = parse_detail_level(instrument);
    if (!trace_steps.empty() && plan.instrument == DetailLevel::L0)
        base::fail_usage("--trace-steps: L0 shows no more of one step than of another; --instrument L1, L2 or L3 does");
    plan.trace_steps = parse_trace_steps(trace_steps);
    if (options.given("trace-memory") && !plan.trace)
        base::fail_usage("--trace-memory ", base::format(plan.trace_memory), " needs a trace: --trace on");
    if (options.given("metrics") && plan.metrics != "none" && !plan.trace)
        base::fail_usage("--metrics ", plan.metrics, " needs a trace: --trace on");
    plan.out = out;
    if (!checkpoint_every.empty()) parse_checkpoint_every(checkpoint_every, plan.checkpoint);
    plan.checkpoint.beside = checkpoint_mode == "async";
    plan.checkpoint.sharded = checkpoint_by == "sharded";
    plan.checkpoint.durable = checkpoint_fsync == "yes";
    for (const char* option : {"checkpoint-mode", "checkpoint-by", "checkpoint-fsync", "checkpoint-keep"})
        if (options.given(option) && !plan.checkpoint.on())
            base::fail_usage("--", option, ": there are no checkpoints without --checkpoint-every");
    plan.data_directory = data_directory.empty() ? plan.out / "train" / "data" : std::filesystem::path{data_directory};
    if (!until_loss.empty()) plan.until_loss = parsed<double>("--until-loss", until_loss);
    if (!until_accuracy.empty())
        plan.until_accuracy = parsed<base::Percent>("--until-accuracy", until_accuracy).fraction();
    for (const std::string& text : delays) plan.delays.push_back(parse_injected_delay(text));
    const bool target = plan.until_loss || plan.until_accuracy;
    if (!target && plan.steps == 0 && plan.epochs == 0 && plan.duration.count() == 0) plan.steps = 100;
    check(plan, models);
    return plan;
}

}  // namespace ddl
