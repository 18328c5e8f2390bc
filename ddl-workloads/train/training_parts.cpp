// SPDX-License-Identifier: Apache-2.0
// Makes the parts of a training: its directory, trace, input, model, strategy and checkpoints.
#include "base/contract/run_directory.hpp"
#include "base/contract/trace_names.hpp"
#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/launcher.hpp"
#include "base/system/local_rank.hpp"
#include "ddl-workloads/checkpoint/checkpoint_reader.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/devices/gpus.hpp"
#include "ddl-workloads/guards/golden.hpp"
#include "ddl-workloads/models/gradient_model.hpp"
#include "ddl-workloads/plan/checkpoint_meta.hpp"
#include "ddl-workloads/train/training.hpp"
#include "ddl-workloads/trials/trial_checks.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

namespace ddl {

namespace {

// True if these trials were already begun in the directory. Throws UsageError if it holds other trials.
bool goes_on_with(const std::vector<base::Trial>& trials, const std::filesystem::path& directory)
{
    const std::filesystem::path file = directory / base::file::trials;
    if (!std::filesystem::exists(file)) return false;
    if (base::read_trials(file) != trials)
        base::fail_usage("--trials: ", file.string(), " has other trials; give another --out DIR");
    return true;
}

// Collective: broadcasts the path of the checkpoint that rank 0 found (empty: none).
std::filesystem::path as_rank0_found(const std::filesystem::path& checkpoint, ExchangeThread& exchanges)
{
    std::string path = checkpoint.string();
    std::uint64_t size = path.size();
    exchanges.broadcast(std::as_writable_bytes(std::span{&size, 1}), 0).get();
    path.resize(size);
    exchanges.broadcast(std::as_writable_bytes(std::span{path}), 0).get();
    return path;
}

// Reads the checkpoint's head. Throws UsageError if a training cannot resume from it.
void read_meta(const std::filesystem::path& checkpoint, base::checkpoint::Restart& restart)
{
    const std::int64_t begin = base::now_ns();
    const CheckpointMeta meta = CheckpointReader{checkpoint}.meta();
    if (meta.content != whole_training)
        base::fail_usage("--resume: ", checkpoint.string(), " holds only ", meta.content,
                         ": the optimizer's state and the random numbers are missing");
    restart.step = meta.step;
    restart.format = format_of(checkpoint).name;
    restart.content = meta.content;
    restart.by = meta.by;
    restart.compress = meta.compress;
    restart.read_ns += base::now_ns() - begin;
}

// Restores the model from the checkpoint. Returns false if it is of another strategy, whose own state is not read.
// Throws UsageError if the training would not continue alike, Error for a damaged file.
bool restore(const std::filesystem::path& checkpoint, const CheckpointMeta& is, Model& model, bool ranks_are_equal,
             base::checkpoint::Restart& restart)
{
    const std::int64_t begin = base::now_ns();
    const CheckpointReader reader{checkpoint};
    check_resumes(reader.meta(), is);
    const bool same = reader.meta().strategy == is.strategy;
    std::vector<StateTensor> state = training_state(model, ranks_are_equal);
    if (!same) std::erase_if(state, [](const StateTensor& tensor) { return tensor.path.starts_with(strategy_state); });
    reader.read(state, restart.rank);
    model.restored();
    restart.end_ns = base::now_ns();
    restart.read_ns += restart.end_ns - begin;
    for (const StateTensor& tensor : state) restart.bytes += static_cast<std::int64_t>(tensor.bytes.size());
    if (restart.rank != 0) return same;
    base::warn("resuming after step ", is.step, " of ", checkpoint.string());
    if (!same) base::warn("continuing under --strategy ", is.strategy, ", not ", reader.meta().strategy);
    if (const std::string& was = reader.meta().rates; !was.empty() && was != is.rates)
        base::warn("not bit-identical to an uninterrupted run: ", is.rates, ", earlier ", was);
    return same;
}

// Collective: each rank adds its row. Trials that continue in the same directory resume again.
void add_row(const base::checkpoint::Restart& restart, const std::filesystem::path& directory,
             ExchangeThread& exchanges)
{
    using Appear = base::CsvWriter::Appear;
    const std::filesystem::path file = directory / base::checkpoint::restarts;
    const auto& columns = base::checkpoint::restart_columns();
    const auto add = [&](Appear appear) {
        base::CsvWriter{file, base::names_of(columns), appear}.write(base::cells_of(columns, restart));
    };
    if (restart.rank == 0) add(std::filesystem::exists(file) ? Appear::more_rows : Appear::rows);
    exchanges.barrier().get();
    if (restart.rank != 0) add(Appear::more_rows);
}

}  // namespace

void Training::prepare_parts()
{
    const base::LocalRank local = base::local_rank();
    DevicePlan device = plan_.device;
    if (device.kind == DeviceKind::cuda) device.number = gpu_of_rank(device, local);
    check_plan();
    files_.restart.rank = exchanges_.rank();
    files_.restart.begin_ns = base::now_ns();
    if (exchanges_.rank() == 0) claim();
    exchanges_.barrier().get();
    files_.earlier = as_rank0_found(files_.earlier, exchanges_);
    if (!files_.earlier.empty()) read_meta(files_.earlier, files_.restart);
    const std::int64_t first_step = files_.restart.step;

    files_.control = std::make_unique<Control>(plan_.out, base::host_name());
    base::ControlPage* const page = local.rank == 0 ? &files_.control->file.page() : nullptr;
    make_instruments(page);
    make_input(first_step);
    make_model({.shape = data_.shape,
                .optimizer = plan_.optimizer,
                .seed = plan_.seed,
                .rank = exchanges_.rank(),
                .local_rank = local.rank,
                .threads = plan_.placement.threads,
                .device = device,
                .exchanges = &exchanges_,
                .details = &instruments_->details()});
    make_strategy(first_step);
    context_.emplace(StepContext{.model = *model_,
                                 .input = *input_,
                                 .exchanges = exchanges_,
                                 .clock = instruments_->clock(),
                                 .hooks = hooks_,
                                 .passes = plan_.accumulate,
                                 .state = {.first = first_step, .taken = first_step}});
    make_hooks(page);
    check_trials(plan_.trials, {.model = *model_,
                                .rank = exchanges_.rank(),
                                .ranks = exchanges_.size(),
                                .first_step = first_step,
                                .equal = base::contains(strategy_card_.offers, equal_ranks)});
    if (exchanges_.rank() == 0 && !plan_.only_check) write_record(nullptr);
}

// Runs before anything is made, so that a failure leaves nothing behind. Throws UsageError.
void Training::check_plan() const
{
    if (plan_.checkpoint.on() && !plan_.checkpoint.in_shards() && !ranks_are_equal())
        base::fail_usage("--checkpoint-by rank0: with ",
                         told_to_differ(plan_.alterations) ? "--alter" : "--strategy " + plan_.strategy,
                         " every rank has its own state; use --checkpoint-by sharded");
    if (plan_.guards.replicas_every > 0 && exchanges_.size() == 1)
        base::fail_usage(plan_.guards.compares_ranks() ? "--guard replicas: " : "--replicas-every: ",
                         "there is only one rank");
    if (!plan_.guards.golden.empty()) const GoldenComparison is_there{plan_.guards.golden};
}

bool Training::ranks_are_equal() const
{
    return exchanges_.size() == 1 ||
           (base::contains(strategy_card_.offers, equal_ranks) && !told_to_differ(plan_.alterations));
}

void Training::claim()
{
    if (plan_.resume == "auto")
        files_.earlier = newest_of_parts(plan_.out);
    else if (!plan_.resume.empty())
        files_.earlier = newest_of(plan_.resume);
    files_.restart.verify_ns = base::now_ns() - files_.restart.begin_ns;
    const bool trials_go_on = !plan_.trials.empty() && goes_on_with(plan_.trials, files_.directory);
    if (!trials_go_on) files_.claimed.emplace(plan_.out, base::part::train);
    files_.in_use.emplace(files_.directory);
    if (!plan_.trials.empty() && !trials_go_on) base::write_trials(files_.directory / base::file::trials, plan_.trials);
    if (!trials_go_on) write_data_set(data_);
}

void Training::make_instruments(base::ControlPage* page)
{
    const RecordingPlan& recording = plan_.recording;
    instruments_ = std::make_unique<Instruments>(
        InstrumentPlan{.trace = recording.trace ? files_.directory / base::file::trace : std::filesystem::path{},
                       .trace_memory = static_cast<std::uint64_t>(recording.memory.count),
                       .page = page,
                       .readers = plan_.input.readers,
                       .transformers = plan_.input.transformers,
                       .checkpoints_beside = plan_.checkpoint.on() && plan_.checkpoint.beside,
                       .level = recording.level,
                       .detailed_steps = recording.steps,
                       .gpu = recording.gpu,
                       .process_metrics = &process_metrics_},
        exchanges_);
    describe_in_trace();
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

void Training::make_input(std::int64_t first_step)
{
    const int ranks = ranks_of_samples(plan_, exchanges_.size());
    const std::shared_ptr<const Records> records =
        open_part(data_, Part::train, {.access = plan_.input.access, .skip_corrupt = plan_.input.skip_corrupt});
    input_ = std::make_unique<BatchSource>(LoaderPlan{.records = records,
                                                      .sampling = {.batch = plan_.batch,
                                                                   .rank = ranks == 1 ? 0 : exchanges_.rank(),
                                                                   .ranks = ranks,
                                                                   .seed = plan_.seed},
                                                      .augmentation = plan_.input.augmentation,
                                                      .readers = plan_.input.readers,
                                                      .transformers = plan_.input.transformers,
                                                      .queue_batches = plan_.input.queue,
                                                      .skip_corrupt = plan_.input.skip_corrupt,
                                                      .observer = instruments_.get()},
                                           plan_.accumulate, first_step);
    if (exchanges_.rank() != 0) return;
    input_->skipped().report(records->faults());
    if (plan_.input.access != Access::buffered && !records->past_page_cache())
        base::warn("the data set ", data_.text, " is in memory (tmpfs): reading it causes no I/O");
}

void Training::make_model(const ModelPlan& plan)
{
    const base::PlugInText model = base::parse_plug_in(plan_.model);
    const ModelCard& card = models_.find(model.name);
    model_ = card.make(models_.settings(card, model.options), plan);
    const std::vector<std::span<std::byte>> parameters = model_->parameters();
    for (const std::span<std::byte> bytes : parameters) exchanges_.broadcast(bytes, 0).get();
    model_->written(parameters);
    if (plan_.accumulate > 1) gradients_of(*model_).accumulate(plan_.accumulate);
    if (instruments_->recorder().on())
        instruments_->recorder().property(base::property::computes_while_stopped, model_->gpu() ? base::on_gpu
                                                                                  : model_->computes_while_stopped()
                                                                                      ? "yes"
                                                                                      : "no");
    name_gpus();
}

void Training::make_strategy(std::int64_t first_step)
{
    const base::PlugInText strategy = base::parse_plug_in(plan_.strategy);
    strategy_ = strategy_card_.make({.settings = strategies().settings(strategy_card_, strategy.options),
                                     .exchanges = exchanges_,
                                     .instruments = *instruments_,
                                     .optimizer = plan_.optimizer,
                                     .seed = plan_.seed,
                                     .soft_errors = plan_.soft_errors,
                                     .directory = files_.directory});
    strategy_->attach(*model_);
    if (files_.earlier.empty()) return;
    const CheckpointMeta meta =
        checkpoint_meta(plan_, ranks_of_samples(plan_, exchanges_.size()), input_->steps_per_epoch(), first_step);
    strategy_->resumed(restore(files_.earlier, meta, *model_, ranks_are_equal(), files_.restart));
    if (!plan_.only_check) add_row(files_.restart, files_.directory, exchanges_);
}

// Collective.
void Training::name_gpus()
{
    outcome_.gpu = gpu_record(model_->gpu());
    const std::string mine = outcome_.gpu.is_null() ? ""
                                                    : base::join("the GPU ", outcome_.gpu["pci_id"].get<std::string>(),
                                                                 " of ", base::host_name());
    for (const std::string& line : shared_gpus(exchanges_.gather(mine).get())) base::warn(line);
}

// Collective.
void Training::make_hooks(base::ControlPage* page)
{
    const HookParts parts{.plan = plan_,
                          .model = *model_,
                          .input = *input_,
                          .exchanges = exchanges_,
                          .instruments = *instruments_,
                          .board = hooks_.board(),
                          .page = page,
                          .directory = files_.directory,
                          .ranks_are_equal = ranks_are_equal(),
                          .first_step = context_->state.first};
    for (std::shared_ptr<Hook>& hook : ddl::make_hooks(parts)) hooks_.add(std::move(hook));
    if (!plan_.trials.empty()) return;
    ends_ = std::make_shared<Ends>(plan_.ends, input_->steps_per_epoch(), hooks_.board());
    log_ = std::make_shared<StepLog>(plan_, files_.directory, exchanges_.rank(), *ends_, hooks_.board());
    hooks_.add(log_);
    hooks_.add(ends_);
}

}  // namespace ddl
