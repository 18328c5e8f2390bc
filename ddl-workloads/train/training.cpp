#include "ddl-workloads/train/training.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/contract/trace_names.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "ddl-workloads/data/shape_json.hpp"
#include "ddl-workloads/train/evaluation.hpp"
#include "ddl-workloads/train/training_state.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

namespace ddl {

namespace {

constexpr std::uint64_t steps_of_a_sample = 10;
constexpr std::chrono::seconds rank0_first{3};  // on a busy machine an abort takes a second

// What guards did, summed up; null without guards.
nlohmann::ordered_json of_all_ranks(const nlohmann::ordered_json& ranks)
{
    nlohmann::ordered_json all = ranks.front()["guards"];
    if (all.is_null()) return all;
    for (std::size_t i = 1; i < ranks.size(); ++i) {
        const nlohmann::ordered_json& one = ranks[i]["guards"];
        for (auto& [guard, count] : all["caught"].items())
            count = count.get<std::int64_t>() + one["caught"][guard].get<std::int64_t>();
        all["repaired"] = all["repaired"].get<std::int64_t>() + one["repaired"].get<std::int64_t>();
        all["stopped"] = all["stopped"].get<bool>() || one["stopped"].get<bool>();
    }
    return all;
}

nlohmann::ordered_json to_json(const base::WeightRead& read)
{
    return {{"bits", read.bits}, {"flipped", read.flipped}, {"detected", read.detected}};
}

// What all ranks read of weights whose bits flip; null if they lie in memory like any other.
nlohmann::ordered_json stored_by_all(const nlohmann::ordered_json& ranks)
{
    nlohmann::ordered_json all = ranks.front()["stored"];
    if (all.is_null()) return all;
    for (auto& [name, sum] : all.items()) {
        std::uint64_t of_ranks = 0;
        for (const auto& rank : ranks) of_ranks += rank["stored"][name].get<std::uint64_t>();
        sum = of_ranks;
    }
    return all;
}

std::vector<CheckpointNews> checkpoint_news(const std::vector<StepNews>& news)
{
    std::vector<CheckpointNews> all;
    for (const StepNews& one : news) all.push_back(one.checkpoint);
    return all;
}

}  // namespace

Training::Training(const TrainingPlan& plan, const base::Registry<ModelCard>& models, ExchangeThread& exchanges,
                   ProcessMetrics& process_metrics)
    : plan_{plan},
      models_{models},
      exchanges_{exchanges},
      process_metrics_{process_metrics},
      strategy_card_{strategies().find(base::parse_plug_in(plan.strategy).name)},
      data_{data_set(plan.data, plan.input.data_directory)},
      directory_{plan.out / base::part::train},
      started_(base::run_record("ddl-train"))  // braces would make it an array of one
{
}

// --------------------------------------------------------------------------------------------------------- preparing

void Training::prepare()
{
    try {
        prepare_parts();
    } catch (...) {
        // Rank 0 takes the part back, on which another rank may trip: what rank 0 says is then the cause, and ends all.
        if (exchanges_.rank() != 0) std::this_thread::sleep_for(rank0_first);
        claimed_.reset();
        throw;
    }
    if (claimed_ && !plan_.only_check) claimed_->keep();
}

void Training::end_unused()
{
    loader_->stop();
    strategy_->finish();
    instruments_->finish();
}

// ------------------------------------------------------------------------------------------------------------- steps

void Training::run()
{
    ends_.emplace(plan_.ends, steps_per_epoch());
    stall_watch_.emplace(plan_.ends.stall_after, directory_, *instruments_, exchanges_);
    if (!plan_.trials.empty()) return make_trials();
    guards_->after_update();
    do {
        while (ends_->stop() == Stop::no && !ends_->reached(steps_done())) {
            take_step(static_cast<std::uint64_t>(steps_taken()));
            if (ends_->ends_epoch(steps_done()) && ends_->stop() == Stop::no) evaluate();
        }
    } while (ends_->stop() != Stop::signal && went_back());
    hear(exchange_->settle());
    news_.replicas = guards_->news();
    exchange_->next(news_);
    hear(exchange_->settle());
    loader_->stop();
    show_metrics(false);
    if (ends_->stop() == Stop::signal) return finish_after_signal();
    if (evaluated_after_ != sums_.steps) evaluate();
    stall_watch_.reset();
    strategy_->finish();
    if (checkpointer_) checkpointer_->finish();
    instruments_->finish();
}

// Who sent the signal kills soon: mpirun after one second, Slurm after its KillWait (30 s unless set). So the trace
// comes first: it takes little time and is no trace before it is complete. Then the last step's checkpoint, however
// long it takes: if that is cut off, the one before it is still whole. The held-out samples are not guessed any more.
void Training::finish_after_signal()
{
    stall_watch_.reset();
    strategy_->finish();
    instruments_->finish();
    if (!checkpointer_) return;
    if (sums_.steps > 0 && !checkpointer_->began(steps_done())) checkpoint(steps_done());
    checkpointer_->finish();
}

void Training::take_step(std::uint64_t step)
{
    PhaseClock& clock = instruments_->clock();
    clock.begin_step(step);
    news_.wish = std::max(ends_->wish(accuracy_), guards_->stops() ? Stop::guard : Stop::no);
    news_.replicas = guards_->news();
    if (checkpointer_) news_.checkpoint = checkpointer_->news();
    if (control_delay_) news_.control = control_delay_->request_for_next_step(news_.last);
    const std::vector<StepNews> news = exchange_->next(news_);
    if (checkpointer_) checkpointer_->hear(checkpoint_news(news));
    ends_->hear(news);
    hear(news);
    const bool at_once = std::exchange(step_follows_at_once_, true);
    if (control_delay_ && !news.empty() && at_once) control_delay_->make(news.front().control, clock);

    alterer_->before_step(step);
    went_back();
    read_stored_weights();
    for (int i = 1; i <= plan_.accumulate; ++i) pass(i == 1, i == plan_.accumulate);
    if (stored_) stored_->put_back();
    alterer_->before_update();
    if (guards_->look_at_gradients()) clock.leave();
    guards_->before_update(step);
    std::optional<double> gradient_norm;
    if (step % steps_of_a_sample == 0 && plan_.recording.level != DetailLevel::L0) {
        clock.leave();
        gradient_norm = norm(model_->gradients());
    }
    clock.enter(Phase::update);
    model_->update();
    strategy_->after_update(clock);
    if (checkpointer_ && checkpointer_->due(steps_done() + 1)) {
        clock.enter(Phase::checkpoint);
        checkpoint(steps_done() + 1);
    }
    clock.leave();
    guards_->after_update();
    if (golden_ && golden_->is_due(steps_done() + 1)) golden_->compare(steps_done() + 1, *model_);

    if (step % steps_of_a_sample == 0) sample(gradient_norm);
    show_progress();
    show_metrics(true);
    news_.loss = model_->loss().value_or(0.0);  // of a GPU this waits, as part of the step
    news_.last = clock.end_step();
    ++news_.complete_steps;
    sums_.add(news_.last);
}

void Training::pass(bool first, bool last)
{
    PhaseClock& clock = instruments_->clock();
    clock.enter(Phase::load);
    Batch batch = loader_->next();
    skipped_.report(batch.skipped);
    if (first) alterer_->input(batch);
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

void Training::read_stored_weights()
{
    if (!stored_) return;
    const otf2::Scope scope{instruments_->main(), instruments_->recorder().region(base::region::stored_weights)};
    stored_->read();
}

void Training::checkpoint(std::int64_t steps)
{
    step_follows_at_once_ = false;
    checkpointer_->write(checkpoint_meta(plan_, exchanges_.size(), steps_per_epoch(), steps),
                         training_state(*model_, ranks_are_equal()));
}

void Training::hear(const std::vector<StepNews>& news)
{
    write_rows(news);
    std::vector<ReplicaNews> replicas;
    for (const StepNews& one : news) replicas.push_back(one.replicas);
    guards_->hear(replicas);
}

// Asks the guards for the state that the next forward uses. If they took steps back, so does the input; checkpoints of
// those steps may hold what the guards caught.
bool Training::went_back()
{
    if (!guards_->before_forward(static_cast<std::uint64_t>(steps_taken()), steps_done())) return false;
    const std::int64_t steps = guards_->went_back_to();
    taken_back_ = steps_taken() - steps;
    if (checkpointer_) checkpointer_->forget_after(steps);
    loader_->stop();
    earlier_bytes_read_ += loader_->bytes_read();
    make_loader(steps);
    return true;
}

void Training::write_rows(const std::vector<StepNews>& news)
{
    if (!rows_) return;
    for (std::size_t rank = 0; rank < news.size(); ++rank)
        if (news[rank].complete_steps > 0) rows_->add(static_cast<int>(rank), news[rank].last);
}

void Training::sample(std::optional<double> gradient_norm)
{
    instruments_->sample({.loss = model_->loss(),
                          .gradient_norm = gradient_norm,
                          .queue_depth = loader_->queue_depth(),
                          .bytes_read = earlier_bytes_read_ + loader_->bytes_read()});
}

void Training::show_metrics(bool running)
{
    if (step_metrics_ && (!running || step_metrics_->due()))
        step_metrics_->write({.steps = sums_.steps, .ns = sums_.ns, .loss = model_->loss(), .running = running});
}

void Training::show_progress()
{
    if (!progress_ || !progress_->due()) return;
    std::array<char, 96> detail{};
    const auto step_ms = static_cast<double>(sums_.ns) / 1e6 / std::max(static_cast<double>(sums_.steps), 1.0);
    std::snprintf(detail.data(), detail.size(), "step %lld, %.1f ms a step", static_cast<long long>(steps_done()),
                  step_ms);
    const auto length = std::char_traits<char>::length(detail.data());
    if (const std::optional<double> loss = model_->loss())
        std::snprintf(detail.data() + length, detail.size() - length, ", loss %.3f", *loss);
    progress_->show(ends_->fraction(steps_done()), detail.data());
}

// Whole ones: passes that make no whole step belong to the next epoch's first.
std::int64_t Training::steps_per_epoch() const
{
    return std::max<std::int64_t>(1, loader_->steps_per_epoch() / plan_.accumulate);
}

// -------------------------------------------------------------------------------------------------------- evaluating

void Training::evaluate()
{
    evaluated_after_ = sums_.steps;
    step_follows_at_once_ = false;
    if (!model_->loss()) return;
    const otf2::Scope scope{instruments_->main(), instruments_->recorder().region("evaluate")};
    const std::unique_ptr<Records> held_out = open_part(data_, Part::held_out, reading());
    read_stored_weights();
    accuracy_ = accuracy(*model_, *held_out, plan_.input.skip_corrupt, skipped_, exchanges_, instruments_->clock());
    if (stored_) stored_->put_back();
    if (!accuracy_) return;
    const auto epoch = steps_done() / steps_per_epoch();
    const double loss = model_->loss().value_or(0.0);
    std::fprintf(stderr, "ddl-train: epoch %lld: loss %.4f, accuracy on held-out samples %.2f %%\n",
                 static_cast<long long>(epoch), std::isnan(loss) ? std::abs(loss) : loss, 100.0 * *accuracy_);
}

// ---------------------------------------------------------------------------------------------------------- reporting

nlohmann::ordered_json Training::result()
{
    nlohmann::ordered_json mine = process_record(exchanges_.rank());
    mine["computing"] = model_->describe();
    mine["gpu"] = gpu_;
    mine["checksum"] = checksum(model_->parameters());
    mine["skipped_records"] = skipped_.count();
    if (model_->loss()) mine["loss"] = *model_->loss();
    mine["alterations"] = alterer_->count();
    mine["stored"] = stored_ ? to_json(stored_->sum()) : nullptr;
    mine["guards"] = guards_->summary();
    if (golden_) mine["golden"] = golden_->summary();
    mine["injected_delays"] = {{"count", injector_->count()}, {"ns", injector_->total_ns()}};
    const std::vector<std::string> texts = exchanges_.gather(base::json_text(mine, base::one_line)).get();
    if (exchanges_.rank() != 0) return nullptr;

    nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
    for (const std::string& text : texts) ranks.push_back(nlohmann::ordered_json::parse(text));
    for (const auto& rank : ranks) ranks_agree_ = ranks_agree_ && rank["checksum"] == mine["checksum"];
    for (const auto& rank : ranks)
        stopped_by_guard_ = stopped_by_guard_ || (rank["guards"].is_object() && rank["guards"]["stopped"].get<bool>());

    nlohmann::ordered_json result = to_json(sums_, exchanges_.size() * plan_.batch * plan_.accumulate);
    const std::optional<double> overlap = overlap_percent(sums_, instruments_->exchange_ns());
    result["overlap_percent"] = overlap ? nlohmann::ordered_json(*overlap) : nullptr;
    result["ended_by"] = trials_.is_null() ? ends_->text(steps_done()) : "trials";
    result["loss"] = model_->loss() ? nlohmann::ordered_json(*model_->loss()) : nullptr;
    result["accuracy"] = accuracy_ ? nlohmann::ordered_json(*accuracy_) : nullptr;
    result["parameters"] = model_->parameter_count();
    result["checksum"] = mine["checksum"];
    result["ranks_agree"] = ranks_agree_;
    result["bytes_read"] = earlier_bytes_read_ + loader_->bytes_read();
    std::int64_t skipped = 0;
    for (const auto& rank : ranks) skipped += rank["skipped_records"].get<std::int64_t>();
    result["skipped_records"] = skipped;
    result["bytes_averaged"] = exchanges_.bytes_averaged();
    result["stopped_by_signal"] = ends_->stop() == Stop::signal;
    result["first_step"] = first_step_;
    result["resumed_from"] = earlier_.string();
    result["stored"] = stored_by_all(ranks);
    result["guards"] = of_all_ranks(ranks);
    result["replicas"] = guards_->replicas();
    if (!trials_.is_null()) result["trials"] = trials_;
    result["checkpoints"] = checkpointer_ ? checkpointer_->summary() : nullptr;

    nlohmann::ordered_json recorded = result;
    recorded["each_rank"] = std::move(ranks);
    write_record(recorded);
    return result;
}

// Once at the begin, so that a killed training has one, and once with the result.
void Training::write_record(const nlohmann::ordered_json& result)
{
    nlohmann::ordered_json record = started_;
    record["ranks"] = exchanges_.size();
    record["training"] = to_json(plan_);
    record["training"]["gpu"] = gpu_;
    record["training"]["shape"] = to_json(data_.shape);
    record["training"]["steps_per_epoch"] = steps_per_epoch();
    if (held_out_answers_ > 0) record["training"]["held_out"] = held_out_answers_;
    record["training"]["input_past_page_cache"] = loader_->records().past_page_cache();
    record["transport"] = exchanges_.description();
    record["metrics"] = to_json(instruments_->metrics());
    record["metrics_left_out"] = process_metrics_.left_out();
    record["result"] = result;
    base::write_whole(directory_ / base::file::run_record, base::json_text(record) + "\n");
}

}  // namespace ddl
