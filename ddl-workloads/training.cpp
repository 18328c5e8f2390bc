#include "ddl-workloads/training.hpp"

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/local_rank.hpp"
#include "base/run_record.hpp"
#include "base/stop.hpp"
#include "base/words.hpp"
#include "ddl-workloads/data/shape_json.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <string>
#include <utility>

namespace ddl {

namespace {

constexpr std::uint64_t steps_of_a_sample = 10;
constexpr std::int64_t batch_of_an_evaluation = 64;
constexpr std::size_t steps_of_a_loss = 10;  // one batch alone may be easy

base::PlugInText strategy_name(const TrainingPlan& plan)
{
    return base::parse_plug_in(plan.strategy);
}

std::vector<CheckpointNews> checkpoint_news(const std::vector<StepNews>& news)
{
    std::vector<CheckpointNews> all;
    for (const StepNews& one : news) all.push_back(one.checkpoint);
    return all;
}

}  // namespace

Training::Training(const TrainingPlan& plan, const base::Shelf<ModelCard>& models, Transport& transport,
                   ProcessMetrics& process_metrics)
    : plan_{plan},
      models_{models},
      transport_{transport},
      process_metrics_{process_metrics},
      strategy_card_{strategies().find(strategy_name(plan).name)},
      data_{data_set(plan.data, plan.data_directory)},
      directory_{plan.out / "train"},
      started_(base::run_record("ddl-train"))  // braces would make it an array of one
{
}

// --------------------------------------------------------------------------------------------------------- preparing

void Training::prepare()
{
    try {
        prepare_parts();
    } catch (...) {
        claimed_.reset();
        throw;
    }
    if (claimed_) claimed_->keep();
}

void Training::prepare_parts()
{
    if (plan_.checkpoint.on() && !plan_.checkpoint.sharded && !strategy_card_.synchronous && transport_.size() > 1)
        base::fail_usage("--checkpoint-by rank0: with --strategy ", plan_.strategy,
                         " every rank has a state of its own; --checkpoint-by sharded writes them all");
    if (transport_.rank() == 0) claim();
    transport_.barrier().get();
    find_earlier();

    const base::LocalRank local = base::local_rank();
    if (local.rank == 0) control_.emplace(base::ControlFile::open(plan_.out, base::host_name()));
    base::ControlPage* const page = control_ ? &control_->page() : nullptr;
    instruments_ = std::make_unique<Instruments>(
        InstrumentPlan{.trace = plan_.trace ? directory_ / "trace" : std::filesystem::path{},
                       .page = page,
                       .readers = plan_.readers,
                       .transformers = plan_.transformers,
                       .level = plan_.instrument,
                       .detailed_steps = plan_.trace_steps,
                       .process_metrics = &process_metrics_},
        transport_);
    describe_in_trace();
    make_loader();
    make_model({.shape = data_.shape,
                .optimizer = plan_.optimizer,
                .seed = plan_.seed,
                .rank = transport_.rank(),
                .local_rank = local.rank,
                .threads = plan_.threads,
                .transport = &transport_,
                .details = &instruments_->details()});
    inject_delays();
    if (plan_.control_delay.count() > 0) control_delay_.emplace(plan_.control_delay, page, transport_);
    exchange_.emplace(transport_);
    make_checkpointer();
    if (transport_.rank() == 0) write_record(nullptr);
}

void Training::claim()
{
    if (plan_.resume == "auto")
        earlier_ = newest_of_parts(plan_.out);
    else if (!plan_.resume.empty())
        earlier_ = newest_of(plan_.resume);
    claimed_.emplace(plan_.out, "train");
    in_use_.emplace(claimed_->path());
    rows_.emplace(directory_ / "steps.csv");
    progress_.emplace("training");
    write_data_set(data_);
}

// Rank 0 knows already.
void Training::find_earlier()
{
    std::string path = earlier_.string();
    std::uint64_t size = path.size();
    transport_.broadcast(std::as_writable_bytes(std::span{&size, 1}), 0).get();
    path.resize(size);
    transport_.broadcast(std::as_writable_bytes(std::span{path}), 0).get();
    earlier_ = path;
    if (!earlier_.empty()) first_step_ = CheckpointReader{earlier_}.meta().step;
}

void Training::describe_in_trace()
{
    if (!instruments_->recorder().on()) return;
    const std::vector<std::pair<std::string, std::string>> properties{
        {"model", plan_.model},
        {"strategy", plan_.strategy},
        {"transport", plan_.transport},
        {"seed", std::to_string(plan_.seed)},
        {"instrument", text(plan_.instrument)},
        {"control_delay_ns", std::to_string(plan_.control_delay.count())}};
    for (const auto& [name, value] : properties) instruments_->recorder().property("crosstalk::" + name, value);
}

void Training::make_loader()
{
    const Sampling sampling{.batch = plan_.batch,
                            .rank = transport_.rank(),
                            .ranks = transport_.size(),
                            .seed = plan_.seed,
                            .first_step = first_step_ * plan_.accumulate};
    const std::shared_ptr<const Records> records = open_part(data_, Part::train, reading());
    if (transport_.rank() == 0)
        for (const std::string& fault : records->faults()) tell_skipped(fault);
    loader_ = std::make_unique<Loader>(LoaderPlan{.records = records,
                                                  .sampling = sampling,
                                                  .augmentation = plan_.augmentation,
                                                  .readers = plan_.readers,
                                                  .transformers = plan_.transformers,
                                                  .queue_batches = plan_.queue,
                                                  .skip_corrupt = plan_.skip_corrupt,
                                                  .observer = instruments_.get()});
    if (plan_.access != Access::buffered && !records->past_page_cache() && transport_.rank() == 0)
        std::fprintf(stderr, "ddl-train: the data set %s is in memory (tmpfs): its input is no I/O\n",
                     data_.text.c_str());
}

Reading Training::reading() const
{
    return {.access = plan_.access, .skip_corrupt = plan_.skip_corrupt};
}

// Counted each time, told once, and no more than ten of them.
void Training::tell_skipped(const std::string& fault)
{
    constexpr std::size_t enough = 10;
    ++skipped_;
    if (told_faults_.size() >= enough || !told_faults_.insert(fault).second) return;
    std::fprintf(stderr, "ddl-train: skipped: %s%s\n", fault.c_str(),
                 told_faults_.size() == enough ? " (more are only counted)" : "");
}

void Training::make_model(const ModelPlan& plan)
{
    const base::PlugInText model = base::parse_plug_in(plan_.model);
    const ModelCard& card = models_.find(model.name);
    model_ = card.make(models_.settings(card, model.options), plan);
    agree(model_->parameters());
    model_->accumulate(plan_.accumulate);

    const base::PlugInText strategy = strategy_name(plan_);
    strategy_ = strategy_card_.make(strategies().settings(strategy_card_, strategy.options), transport_, *instruments_);
    strategy_->attach(*model_);
    restore();
}

void Training::restore()
{
    if (earlier_.empty()) return;
    const CheckpointReader checkpoint{earlier_};
    check_same_training(checkpoint.meta(), checkpoint_meta());
    checkpoint.read(state(), transport_.rank());
    model_->restored();
    if (transport_.rank() == 0)
        std::fprintf(stderr, "ddl-train: going on after step %lld of %s\n", static_cast<long long>(first_step_),
                     earlier_.c_str());
}

void Training::make_checkpointer()
{
    if (!plan_.checkpoint.on()) return;
    const std::vector<StateTensor> all = state();
    if (all.empty()) base::fail_usage("--checkpoint-every: ", plan_.model, " has no state to write");
    const auto own = [](const StateTensor& tensor) { return tensor.owner == Owner::each; };
    if (!plan_.checkpoint.sharded && std::any_of(all.begin(), all.end(), own))
        base::fail_usage("--checkpoint-by rank0: not all of the state of ", plan_.model,
                         " is there; --checkpoint-by sharded writes it all");
    checkpointer_.emplace(plan_.checkpoint, directory_ / "checkpoints", transport_);
}

// What this rank has. Ranks that are not kept equal have each its own.
std::vector<StateTensor> Training::state()
{
    std::vector<StateTensor> all = model_->state();
    if (!strategy_card_.synchronous && transport_.size() > 1)
        for (StateTensor& tensor : all) tensor.owner = Owner::each;
    return all;
}

CheckpointMeta Training::checkpoint_meta() const
{
    return {.step = steps_done(),
            .steps_per_epoch = steps_per_epoch(),
            .seed = plan_.seed,
            .batch = plan_.batch,
            .accumulate = plan_.accumulate,
            .ranks = transport_.size(),
            .model = plan_.model,
            .data = plan_.data,
            .strategy = plan_.strategy,
            .optimizer = plan_.optimizer.name};
}

void Training::inject_delays()
{
    std::vector<InjectedDelay> mine;
    for (const InjectedDelay& delay : plan_.delays) {
        if (delay.rank >= transport_.size())
            base::fail_usage("--delay: there is no rank ", delay.rank, " of ", transport_.size());
        if (delay.rank == transport_.rank()) mine.push_back(delay);
    }
    injector_.emplace(instruments_->recorder(), instruments_->main(), std::move(mine));
    instruments_->clock().inject(&*injector_);
}

void Training::agree(const std::vector<std::span<std::byte>>& memory)
{
    for (const std::span<std::byte> bytes : memory) transport_.broadcast(bytes, 0).get();
}

// ------------------------------------------------------------------------------------------------------------- steps

void Training::run()
{
    begun_ns_ = base::now_ns();
    stall_watch_.emplace(plan_.stall_after, directory_, *instruments_, transport_);
    for (auto step = static_cast<std::uint64_t>(first_step_); stop_ == Stop::no && !is_last(step); ++step) {
        take_step(step);
        if (ends_epoch(step) && stop_ == Stop::no) evaluate();
    }
    write_rows(exchange_->settle());
    exchange_->next(news_);
    write_rows(exchange_->settle());
    loader_->stop();
    // A launcher that sent the signal kills soon: then the trace comes first, and nothing else.
    if (stop_ != Stop::signal && evaluated_after_ != sums_.steps) evaluate();
    stall_watch_.reset();
    strategy_->finish();
    instruments_->finish();
    if (checkpointer_) checkpointer_->finish();
}

void Training::take_step(std::uint64_t step)
{
    PhaseClock& clock = instruments_->clock();
    clock.begin_step(step);
    news_.wish = wish();
    if (checkpointer_) news_.checkpoint = checkpointer_->news();
    const std::vector<StepNews> news = exchange_->next(news_);
    if (checkpointer_) checkpointer_->hear(checkpoint_news(news));
    stop_ = std::max(agreed(news), loss_is_low_enough(news) ? Stop::loss : Stop::no);
    write_rows(news);
    if (control_delay_) control_delay_->wait(clock);

    for (int i = 1; i <= plan_.accumulate; ++i) pass(i == plan_.accumulate);
    std::optional<double> gradient_norm;
    if (step % steps_of_a_sample == 0 && plan_.instrument != DetailLevel::L0) {
        clock.leave();
        gradient_norm = norm(model_->gradients());
    }
    clock.enter(Phase::update);
    model_->update();
    strategy_->after_update(clock);
    checkpoint_if_due();
    clock.leave();

    if (step % steps_of_a_sample == 0) sample(gradient_norm);
    show_progress();
    news_.last = clock.end_step();
    news_.loss = model_->loss().value_or(0.0);
    ++news_.complete_steps;
    sums_.add(news_.last);
}

void Training::pass(bool last)
{
    PhaseClock& clock = instruments_->clock();
    clock.enter(Phase::load);
    Batch batch = loader_->next();
    for (const std::string& fault : batch.skipped) tell_skipped(fault);
    clock.enter(Phase::to_device);
    model_->take(std::move(batch));
    clock.enter(Phase::forward);
    model_->forward();
    if (last) {
        strategy_->backward(*model_, clock);
    } else {
        clock.enter(Phase::backward);
        model_->backward();
    }
}

void Training::checkpoint_if_due()
{
    if (!checkpointer_ || !checkpointer_->due(steps_done() + 1)) return;
    instruments_->clock().enter(Phase::checkpoint);
    CheckpointMeta meta = checkpoint_meta();
    ++meta.step;  // the one at hand is done
    checkpointer_->write(meta, state());
}

void Training::write_rows(const std::vector<StepNews>& news)
{
    if (!rows_) return;
    for (std::size_t rank = 0; rank < news.size(); ++rank)
        if (news[rank].complete_steps > 0) rows_->add(static_cast<int>(rank), news[rank].last);
}

// The same on all ranks: all have the same news.
bool Training::loss_is_low_enough(const std::vector<StepNews>& news)
{
    if (!plan_.until_loss || news.empty() || news.front().complete_steps == 0) return false;
    if (!model_->loss()) base::fail_usage("--until-loss: ", plan_.model, " does not learn");
    const auto add = [](double sum, const StepNews& one) { return sum + one.loss; };
    losses_.push_back(std::accumulate(news.begin(), news.end(), 0.0, add) / static_cast<double>(news.size()));
    if (losses_.size() > steps_of_a_loss) losses_.pop_front();
    const double mean = std::accumulate(losses_.begin(), losses_.end(), 0.0) / static_cast<double>(losses_.size());
    return losses_.size() == steps_of_a_loss && mean <= *plan_.until_loss;
}

void Training::sample(std::optional<double> gradient_norm)
{
    instruments_->sample({.loss = model_->loss(),
                          .gradient_norm = gradient_norm,
                          .queue_depth = loader_->queue_depth(),
                          .bytes_read = loader_->bytes_read()});
}

void Training::show_progress()
{
    if (!progress_ || !progress_->due()) return;
    const double seconds = base::seconds(base::Nanoseconds{base::now_ns() - begun_ns_});
    const auto steps = static_cast<double>(steps_done());
    double fraction = 0.0;
    if (plan_.steps > 0) fraction = std::max(fraction, steps / static_cast<double>(plan_.steps));
    if (plan_.epochs > 0) fraction = std::max(fraction, steps / static_cast<double>(plan_.epochs * steps_per_epoch()));
    if (plan_.duration.count() > 0) fraction = std::max(fraction, seconds / base::seconds(plan_.duration));

    std::array<char, 96> detail{};
    const auto step_ms = static_cast<double>(sums_.ns) / 1e6 / std::max(static_cast<double>(sums_.steps), 1.0);
    std::snprintf(detail.data(), detail.size(), "step %lld, %.1f ms a step", static_cast<long long>(steps_done()),
                  step_ms);
    const auto length = std::char_traits<char>::length(detail.data());
    if (const std::optional<double> loss = model_->loss())
        std::snprintf(detail.data() + length, detail.size() - length, ", loss %.3f", *loss);
    progress_->show(fraction, detail.data());
}

Stop Training::wish() const
{
    if (base::stop_requested()) return Stop::signal;
    if (plan_.until_accuracy && accuracy_.value_or(0.0) >= *plan_.until_accuracy) return Stop::accuracy;
    const bool late = plan_.duration.count() > 0 && base::now_ns() - begun_ns_ >= plan_.duration.count();
    return late ? Stop::time_is_up : Stop::no;
}

// Whole ones: passes that make no whole step belong to the next epoch's first.
std::int64_t Training::steps_per_epoch() const
{
    return std::max<std::int64_t>(1, loader_->steps_per_epoch() / plan_.accumulate);
}

bool Training::is_last(std::uint64_t step) const
{
    const auto done = static_cast<std::int64_t>(step);
    return (plan_.steps > 0 && done >= plan_.steps) || (plan_.epochs > 0 && done >= plan_.epochs * steps_per_epoch());
}

bool Training::ends_epoch(std::uint64_t step) const
{
    return (plan_.epochs > 0 || plan_.until_accuracy) && (static_cast<std::int64_t>(step) + 1) % steps_per_epoch() == 0;
}

// -------------------------------------------------------------------------------------------------------- evaluating

// On the samples kept apart, dealt out to the ranks. Ranks keep running means of their own; here those of rank 0 count.
void Training::evaluate()
{
    evaluated_after_ = sums_.steps;
    if (!model_->loss()) {
        if (plan_.until_accuracy) base::fail_usage("--until-accuracy: ", plan_.model, " does not learn");
        return;
    }
    const otf2::Scope scope{instruments_->main(), instruments_->recorder().region("evaluate")};
    agree(model_->statistics());
    const std::unique_ptr<Records> held_out = open_part(data_, Part::held_out, reading());
    const std::int64_t stride = transport_.size() * batch_of_an_evaluation;
    std::int64_t correct = 0;
    std::int64_t answers = 0;
    for (std::int64_t first = 0; first < held_out->records(); first += stride) {
        const std::int64_t at = first + transport_.rank() * batch_of_an_evaluation;
        const Batch batch = at < held_out->records()
                                ? read_in_order(*held_out, at, batch_of_an_evaluation, plan_.skip_corrupt)
                                : Batch{};
        for (const std::string& fault : batch.skipped) tell_skipped(fault);
        correct += model_->count_correct(batch);  // of no samples too: ranks may compute together
        answers += batch.samples * data_.shape.answers();
        instruments_->clock().mark();
    }

    std::int64_t all_correct = 0;
    std::int64_t all_answers = 0;
    for (const std::string& text : transport_.gather(base::join(correct, ",", answers)).get()) {
        const std::vector<std::string> counts = base::split(text, ',');
        all_correct += base::parse<std::int64_t>(counts.at(0));
        all_answers += base::parse<std::int64_t>(counts.at(1));
    }
    if (transport_.rank() != 0) return;
    if (all_answers == 0) base::fail("no held-out sample of ", data_.text, " is sound");
    accuracy_ = static_cast<double>(all_correct) / static_cast<double>(all_answers);
    const auto epoch = steps_done() / steps_per_epoch();
    std::fprintf(stderr, "ddl-train: epoch %lld: loss %.4f, accuracy on held-out samples %.2f %%\n",
                 static_cast<long long>(epoch), model_->loss().value_or(0.0), 100.0 * *accuracy_);
}

// ---------------------------------------------------------------------------------------------------------- reporting

nlohmann::ordered_json Training::result()
{
    nlohmann::ordered_json mine = process_record(transport_.rank());
    mine["computing"] = model_->describe();
    mine["checksum"] = checksum(model_->parameters());
    mine["skipped_records"] = skipped_;
    if (model_->loss()) mine["loss"] = *model_->loss();
    mine["injected_delays"] = {{"count", injector_->count()}, {"ns", injector_->total_ns()}};
    const std::vector<std::string> texts = transport_.gather(mine.dump()).get();
    if (transport_.rank() != 0) return nullptr;

    nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
    for (const std::string& text : texts) ranks.push_back(nlohmann::ordered_json::parse(text));
    for (const auto& rank : ranks) ranks_agree_ = ranks_agree_ && rank["checksum"] == mine["checksum"];

    nlohmann::ordered_json result = to_json(sums_, transport_.size() * plan_.batch * plan_.accumulate);
    const std::optional<double> overlap = overlap_percent(sums_, instruments_->exchange_ns());
    result["overlap_percent"] = overlap ? nlohmann::ordered_json(*overlap) : nullptr;
    result["ended_by"] = ended_by();
    result["loss"] = model_->loss() ? nlohmann::ordered_json(*model_->loss()) : nullptr;
    result["accuracy"] = accuracy_ ? nlohmann::ordered_json(*accuracy_) : nullptr;
    result["parameters"] = model_->parameter_count();
    result["checksum"] = mine["checksum"];
    result["ranks_agree"] = ranks_agree_;
    result["bytes_read"] = loader_->bytes_read();
    std::int64_t skipped = 0;
    for (const auto& rank : ranks) skipped += rank["skipped_records"].get<std::int64_t>();
    result["skipped_records"] = skipped;
    result["bytes_averaged"] = transport_.bytes_averaged();
    result["stopped_by_signal"] = stop_ == Stop::signal;
    result["first_step"] = first_step_;
    result["resumed_from"] = earlier_.string();
    result["checkpoints"] = checkpointer_ ? checkpointer_->summary() : nullptr;

    nlohmann::ordered_json recorded = result;
    recorded["each_rank"] = std::move(ranks);
    write_record(recorded);
    return result;
}

std::string Training::ended_by() const
{
    if (stop_ == Stop::signal) return "signal";
    if (stop_ == Stop::accuracy) return "accuracy";
    if (stop_ == Stop::loss) return "loss";
    if (stop_ == Stop::time_is_up) return "duration";
    return plan_.steps > 0 && steps_done() >= plan_.steps ? "steps" : "epochs";
}

// Once at the begin, so that a killed training has one, and once with the result.
void Training::write_record(const nlohmann::ordered_json& result)
{
    nlohmann::ordered_json record = started_;
    record["ranks"] = transport_.size();
    record["training"] = to_json(plan_);
    record["training"]["shape"] = to_json(data_.shape);
    record["training"]["steps_per_epoch"] = steps_per_epoch();
    record["training"]["input_past_page_cache"] = loader_->records().past_page_cache();
    record["transport"] = transport_.description();
    record["metrics"] = to_json(instruments_->metrics());
    record["metrics_left_out"] = process_metrics_.left_out();
    record["result"] = result;
    base::write_whole(directory_ / "run.json", record.dump(2) + "\n");
}

}  // namespace ddl
