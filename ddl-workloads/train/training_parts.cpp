// What a training is made of: its directory, its trace, its input, its model and strategy, its checkpoints.
#include "base/contract/run_directory.hpp"
#include "base/contract/soft_error_tables.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/system/launcher.hpp"
#include "base/system/local_rank.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/devices/gpus.hpp"
#include "ddl-workloads/train/resume.hpp"
#include "ddl-workloads/train/training.hpp"
#include "ddl-workloads/train/training_state.hpp"
#include "ddl-workloads/trials/trial_checks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace ddl {

namespace {

// Were these trials begun there? Throws UsageError if others were.
bool goes_on_with(const std::vector<base::Trial>& trials, const std::filesystem::path& directory)
{
    const std::filesystem::path file = directory / base::file::trials;
    if (!std::filesystem::exists(file)) return false;
    if (base::read_trials(file) != trials)
        base::fail_usage("--trials: ", file.string(), " has other trials; give another --out DIR");
    return true;
}

}  // namespace

void Training::prepare_parts()
{
    const base::LocalRank local = base::local_rank();
    DevicePlan device = plan_.device;
    if (device.kind == DeviceKind::cuda) device.number = gpu_of_rank(device, local);
    if (plan_.checkpoint.on() && !plan_.checkpoint.sharded && !ranks_are_equal())
        base::fail_usage("--checkpoint-by rank0: with ",
                         strategy_card_.synchronous ? "--alter" : "--strategy " + plan_.strategy,
                         " every rank has a state of its own; --checkpoint-by sharded writes them all");
    check_guards();
    if (exchanges_.rank() == 0) claim();
    exchanges_.barrier().get();
    earlier_ = as_rank0_found(earlier_, exchanges_);
    if (!earlier_.empty()) first_step_ = CheckpointReader{earlier_}.meta().step;

    control_.emplace(base::ControlFile::open(plan_.out, base::host_name()));
    named_.emplace(control_->page());
    base::ControlPage* const page = local.rank == 0 ? &control_->page() : nullptr;
    instruments_ = std::make_unique<Instruments>(
        InstrumentPlan{.trace = plan_.recording.trace ? directory_ / base::file::trace : std::filesystem::path{},
                       .trace_memory = static_cast<std::uint64_t>(plan_.recording.memory.count),
                       .page = page,
                       .readers = plan_.input.readers,
                       .transformers = plan_.input.transformers,
                       .checkpoints_beside = plan_.checkpoint.on() && plan_.checkpoint.beside,
                       .level = plan_.recording.level,
                       .detailed_steps = plan_.recording.steps,
                       .gpu = plan_.recording.gpu,
                       .process_metrics = &process_metrics_},
        exchanges_);
    describe_in_trace();
    make_loader(first_step_);
    make_model({.shape = data_.shape,
                .optimizer = plan_.optimizer,
                .seed = plan_.seed,
                .rank = exchanges_.rank(),
                .local_rank = local.rank,
                .threads = plan_.placement.threads,
                .device = device,
                .exchanges = &exchanges_,
                .details = &instruments_->details()});
    if (instruments_->recorder().on())
        instruments_->recorder().property(base::property::computes_while_stopped, model_->gpu() ? base::on_gpu
                                                                                  : model_->computes_while_stopped()
                                                                                      ? "yes"
                                                                                      : "no");
    name_gpus();
    inject_delays();
    make_alterer();
    make_store();
    make_guards();
    check_trials(plan_.trials, {.model = *model_,
                                .rank = exchanges_.rank(),
                                .ranks = exchanges_.size(),
                                .first_step = first_step_,
                                .synchronous = strategy_card_.synchronous});
    if (plan_.delays.control.count() > 0) control_delay_.emplace(plan_.delays.control, page, exchanges_);
    exchange_.emplace(exchanges_);
    make_checkpointer();
    if (exchanges_.rank() == 0 && !plan_.only_check) write_record(nullptr);
}

void Training::claim()
{
    if (plan_.resume == "auto")
        earlier_ = newest_of_parts(plan_.out);
    else if (!plan_.resume.empty())
        earlier_ = newest_of(plan_.resume);
    const bool trials_go_on = !plan_.trials.empty() && goes_on_with(plan_.trials, directory_);
    if (!trials_go_on) claimed_.emplace(plan_.out, base::part::train);
    in_use_.emplace(directory_);
    if (plan_.trials.empty()) rows_.emplace(directory_ / base::file::steps);
    if (!plan_.trials.empty() && !trials_go_on) base::write_trials(directory_ / base::file::trials, plan_.trials);
    progress_.emplace(plan_.trials.empty() ? "training" : "trials");
    if (!plan_.recording.openmetrics.empty()) step_metrics_.emplace(plan_.recording.openmetrics, plan_.model);
    if (!trials_go_on) write_data_set(data_);
}

void Training::describe_in_trace()
{
    if (!instruments_->recorder().on()) return;
    const std::vector<std::pair<std::string, std::string>> properties{
        {"model", plan_.model},
        {"strategy", plan_.strategy},
        {"transport", plan_.transport},
        {"seed", std::to_string(plan_.seed)},
        {"instrument", text(plan_.recording.level)},
        {"control_delay_ns", std::to_string(plan_.delays.control.count())}};
    for (const auto& [name, value] : properties)
        instruments_->recorder().property(base::property::prefix + name, value);
}

void Training::make_loader(std::int64_t steps_done)
{
    const std::shared_ptr<const Records> records = open_part(data_, Part::train, reading());
    if (exchanges_.rank() == 0 && steps_done == first_step_) skipped_.report(records->faults());
    loader_ = loader_from(records, steps_done);
    if (steps_done == first_step_ && plan_.input.access != Access::buffered && !records->past_page_cache() &&
        exchanges_.rank() == 0)
        base::warn("the data set ", data_.text, " is in memory (tmpfs): its input is no I/O");
}

std::unique_ptr<Loader> Training::loader_from(const std::shared_ptr<const Records>& records, std::int64_t first_step)
{
    const Sampling sampling{.batch = plan_.batch,
                            .rank = exchanges_.rank(),
                            .ranks = exchanges_.size(),
                            .seed = plan_.seed,
                            .first_step = first_step * plan_.accumulate};
    return std::make_unique<Loader>(LoaderPlan{.records = records,
                                               .sampling = sampling,
                                               .augmentation = plan_.input.augmentation,
                                               .readers = plan_.input.readers,
                                               .transformers = plan_.input.transformers,
                                               .queue_batches = plan_.input.queue,
                                               .skip_corrupt = plan_.input.skip_corrupt,
                                               .observer = instruments_.get()});
}

Reading Training::reading() const
{
    return {.access = plan_.input.access, .skip_corrupt = plan_.input.skip_corrupt};
}

void Training::make_model(const ModelPlan& plan)
{
    const base::PlugInText model = base::parse_plug_in(plan_.model);
    const ModelCard& card = models_.find(model.name);
    if (plan.device.kind != DeviceKind::cpu && !card.chooses_device)
        base::fail_usage("--device ", text(plan_.device), ": ", card.name, " computes without LibTorch, on the CPU",
                         card.name == "emulated" ? "; emulated[device=cuda] keeps a GPU busy" : "");
    model_ = card.make(models_.settings(card, model.options), plan);
    if ((plan_.ends.until_loss || plan_.ends.until_accuracy) && !model_->learns())
        base::fail_usage(plan_.ends.until_loss ? "--until-loss: " : "--until-accuracy: ", plan_.model,
                         " does not learn");
    const std::vector<std::span<std::byte>> parameters = model_->parameters();
    for (const std::span<std::byte> bytes : parameters) exchanges_.broadcast(bytes, 0).get();
    model_->written(parameters);
    model_->accumulate(plan_.accumulate);

    const base::PlugInText strategy = base::parse_plug_in(plan_.strategy);
    strategy_ = strategy_card_.make(strategies().settings(strategy_card_, strategy.options), exchanges_, *instruments_);
    strategy_->attach(*model_);
    if (!earlier_.empty())
        restore(earlier_, checkpoint_meta(plan_, exchanges_.size(), steps_per_epoch(), first_step_), *model_,
                ranks_are_equal(), exchanges_.rank());
}

// Collective.
void Training::name_gpus()
{
    gpu_ = gpu_record(model_->gpu());
    const std::string mine =
        gpu_.is_null() ? "" : base::join("the GPU ", gpu_["pci_id"].get<std::string>(), " of ", base::host_name());
    for (const std::string& line : shared_gpus(exchanges_.gather(mine).get())) base::warn(line);
}

void Training::make_checkpointer()
{
    if (!plan_.checkpoint.on()) return;
    check_can_be_written(plan_, training_state(*model_, ranks_are_equal()));
    checkpointer_.emplace(plan_.checkpoint, directory_ / "checkpoints", exchanges_, *instruments_);
}

void Training::inject_delays()
{
    std::vector<InjectedDelay> mine;
    for (const InjectedDelay& delay : plan_.delays.injected) {
        if (delay.rank >= exchanges_.size())
            base::fail_usage("--delay: there is no rank ", delay.rank, " of ", exchanges_.size());
        if (delay.rank == exchanges_.rank()) mine.push_back(delay);
    }
    injector_.emplace(instruments_->recorder(), instruments_->main(), std::move(mine));
    instruments_->clock().listen(*injector_);
}

void Training::make_alterer()
{
    std::vector<LiveAlteration> mine;
    for (const LiveAlteration& alteration : plan_.alterations) {
        if (alteration.rank >= exchanges_.size())
            base::fail_usage("--alter: there is no rank ", alteration.rank, " of ", exchanges_.size());
        if (alteration.rank < 0 || alteration.rank == exchanges_.rank()) mine.push_back(alteration);
    }
    const auto is_mean = [](const base::Injection& one) { return one.path.starts_with("mean/"); };
    for (const LiveAlteration& alteration : mine)
        if (strategy_card_.name == "zero1" &&
            std::any_of(alteration.injections.begin(), alteration.injections.end(), is_mean))
            base::fail_usage(
                "--alter: with --strategy zero1 a rank has no whole mean/; gradient/ is before the exchange");
    alterer_.emplace(instruments_->recorder(), instruments_->main(), *model_, std::move(mine));
}

void Training::make_store()
{
    if (!plan_.store.on()) return;
    constexpr std::uint64_t stream_of_rank_0 = std::uint64_t{1} << 40U;  // beyond those of epochs
    const base::WeightMemory memory = base::weight_memory(plan_.store.code, plan_.store.detection, plan_.store.rate);
    stored_.emplace(*model_, memory, "", plan_.seed, stream_of_rank_0 + static_cast<std::uint64_t>(exchanges_.rank()));
}

// Before anything is made, so that nothing is left behind.
void Training::check_guards()
{
    if (plan_.guards.replicas_every > 0) {
        const char* const option = plan_.guards.has("replicas") ? "--guard replicas: " : "--replicas-every: ";
        if (!strategy_card_.synchronous)
            base::fail_usage(option, "with --strategy ", plan_.strategy, " every rank has a state of its own");
        if (exchanges_.size() == 1) base::fail_usage(option, "there is one rank, and none to compare it with");
    }
    if (!plan_.guards.golden.empty()) golden_.emplace(plan_.guards.golden);
}

// Collective.
void Training::make_guards()
{
    if (golden_) {
        check_same_training(CheckpointReader{golden_->first()}.meta(),
                            checkpoint_meta(plan_, exchanges_.size(), steps_per_epoch(), first_step_), "--golden");
        if (exchanges_.rank() == 0)
            base::CsvWriter{directory_ / base::soft_errors::propagation, base::soft_errors::propagation_columns};
        exchanges_.barrier().get();
        golden_->record(instruments_->recorder(), instruments_->main(), directory_, exchanges_.rank(), 0);
    }
    guards_.emplace(plan_.guards, Guarded{.recorder = instruments_->recorder(),
                                          .location = instruments_->main(),
                                          .model = *model_,
                                          .exchanges = exchanges_,
                                          .directory = directory_});
}

}  // namespace ddl
