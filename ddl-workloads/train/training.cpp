// SPDX-License-Identifier: Apache-2.0
#include "ddl-workloads/train/training.hpp"

#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/json.hpp"
#include "ddl-workloads/data/shape_json.hpp"
#include "ddl-workloads/train/evaluation.hpp"
#include "ddl-workloads/train/report.hpp"
#include "ddl-workloads/train/watch/stall_watch.hpp"
#include "ddl-workloads/trials/trial_loop.hpp"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>

namespace ddl {

Training::Training(const TrainingPlan& plan, const base::Registry<ModelCard>& models, ExchangeThread& exchanges,
                   ProcessMetrics& process_metrics)
    : plan_{plan},
      models_{models},
      exchanges_{exchanges},
      process_metrics_{process_metrics},
      strategy_card_{strategies().find(base::parse_plug_in(plan.strategy).name)},
      data_{data_set(plan.data, plan.input.data_directory)},
      files_{.directory = plan.out / base::part::train},
      hooks_{exchanges}
{
    files_.started = base::run_record("ddl-train");
}

void Training::prepare()
{
    constexpr std::chrono::seconds rank0_first{3};  // on a busy machine an abort takes a second
    try {
        prepare_parts();
    } catch (...) {
        // Rank 0 removes DIR/train. Other ranks wait so that rank 0's error, the cause, is reported first.
        if (exchanges_.rank() != 0) std::this_thread::sleep_for(rank0_first);
        files_.claimed.reset();
        throw;
    }
    if (files_.claimed && !plan_.only_check) files_.claimed->keep();
}

void Training::end_unused()
{
    input_->stop();
    strategy_->finish();
    instruments_->finish();
}

// ------------------------------------------------------------------------------------------------------------- steps

void Training::run()
{
    {
        const StallWatch watch{plan_.ends.stall_after, files_.directory, *instruments_, exchanges_};
        if (plan_.trials.empty())
            train();
        else
            make_trials();
    }
    finish();
}

void Training::train()
{
    StepContext& context = *context_;
    StepState& state = context.state;
    hooks_.each(&Hook::begin, context);
    std::int64_t taken_back = 0;
    do {
        while (state.stop == Stop::no && !ends_->reached(state.done())) {
            strategy_->step(context);
            if (ends_->ends_epoch(state.done()) && state.stop == Stop::no) evaluate();
        }
        // A guard may also undo the last steps before the end; then the training continues.
        taken_back = state.taken_back;
        if (state.stop != Stop::signal) {
            hooks_.each(&Hook::check_state, context);
            strategy_->check_state(context);
        }
    } while (state.taken_back != taken_back);
    hooks_.each(&Hook::after_last_step, context);
    hooks_.exchange_last_news(context);
    input_->stop();
    if (state.stop != Stop::signal && outcome_.evaluated_after != state.taken) evaluate();
}

// After a signal the process is killed soon: by mpirun after one second, by Slurm after its KillWait (30 s by default).
// So the trace is finished before the checkpoint: that takes little time, and an unfinished trace is useless. Held-out
// samples are not evaluated then.
void Training::finish()
{
    model_->complete();
    strategy_->finish();
    const bool trace_first = context_->state.stop == Stop::signal;
    if (trace_first) instruments_->finish();
    hooks_.each(&Hook::finish, *context_);
    if (!trace_first) instruments_->finish();
}

void Training::make_trials()
{
    if (!model_->learns()) base::fail_usage("--trials: ", plan_.model, " does not learn, so trials have no effect");
    const std::unique_ptr<Records> held_out_records = held_out();
    outcome_.held_out_answers = held_out_records->records() * data_.shape.answers();
    std::optional<base::Progress> progress;
    if (exchanges_.rank() == 0) {
        write_record(nullptr);  // programs that read the outcomes before the end need the run record
        progress.emplace("trials");
    }
    TrialLoop loop{{.strategy = *strategy_,
                    .context = *context_,
                    .guarded = {.recorder = instruments_->recorder(),
                                .location = instruments_->main(),
                                .model = *model_,
                                .exchanges = exchanges_,
                                .directory = files_.directory},
                    .strategy_name = strategy_card_.name,
                    .accuracy =
                        [&] {
                            return accuracy(*model_, *held_out_records, plan_.input.skip_corrupt, input_->skipped(),
                                            exchanges_, instruments_->clock());
                        },
                    .checksum = [&] { return checksum(model_->parameters()); },
                    .show =
                        [&](double fraction, const std::string& detail) {
                            if (progress && progress->due()) progress->show(fraction, detail);
                        }},
                   plan_.trials,
                   files_.directory};
    loop.run();
    input_->stop();
    if (exchanges_.rank() == 0)
        outcome_.trials = {{"count", plan_.trials.size()},
                           {"ended", loop.ended()},
                           {"crashed", loop.crashed()},
                           {"held_out", outcome_.held_out_answers}};
}

// -------------------------------------------------------------------------------------------------------- evaluating

std::unique_ptr<Records> Training::held_out() const
{
    return open_part(data_, Part::held_out, {.access = plan_.input.access, .skip_corrupt = plan_.input.skip_corrupt});
}

void Training::evaluate()
{
    StepState& state = context_->state;
    outcome_.evaluated_after = state.taken;
    state.at_once = false;
    if (!model_->learns() || !model_->loss()) return;
    const otf2::Scope scope{instruments_->main(), instruments_->recorder().region("evaluate")};
    model_->complete();
    const std::unique_ptr<Records> samples = held_out();
    hooks_.each(&Hook::before_passes, *context_);
    outcome_.accuracy =
        accuracy(*model_, *samples, plan_.input.skip_corrupt, input_->skipped(), exchanges_, instruments_->clock());
    hooks_.each(&Hook::after_passes, *context_);
    ends_->evaluated(outcome_.accuracy);
    if (!outcome_.accuracy) return;
    const auto epoch = state.done() / input_->steps_per_epoch();
    const double loss = model_->loss().value_or(0.0);
    std::fprintf(stderr, "ddl-train: epoch %lld: loss %.4f, accuracy on held-out samples %.2f %%\n",
                 static_cast<long long>(epoch), std::isnan(loss) ? std::abs(loss) : loss, 100.0 * *outcome_.accuracy);
}

// --------------------------------------------------------------------------------------------------------- reporting

nlohmann::ordered_json Training::record_of_rank() const
{
    nlohmann::ordered_json mine = process_record(exchanges_.rank());
    mine["computing"] = model_->describe();
    mine["gpu"] = outcome_.gpu;
    mine["checksum"] = checksum(model_->parameters());
    mine["skipped_records"] = input_->skipped().count();
    if (model_->loss()) mine["loss"] = *model_->loss();
    if (const std::optional<std::string> broken = model_->broken_promise()) mine["broken_promise"] = *broken;
    for (const std::shared_ptr<Hook>& hook : hooks_.all()) hook->describe(mine);
    return mine;
}

nlohmann::ordered_json Training::result()
{
    const nlohmann::ordered_json mine = record_of_rank();
    const std::vector<std::string> texts = exchanges_.gather(base::json_text(mine, base::one_line)).get();
    if (exchanges_.rank() != 0) return nullptr;

    nlohmann::ordered_json ranks = nlohmann::ordered_json::array();
    for (const std::string& text : texts) ranks.push_back(nlohmann::ordered_json::parse(text));
    std::int64_t skipped = 0;
    for (const auto& rank : ranks) {
        outcome_.ranks_agree = outcome_.ranks_agree && rank["checksum"] == mine["checksum"];
        skipped += rank["skipped_records"].get<std::int64_t>();
        if (rank.contains("broken_promise"))
            outcome_.broken_by_models.push_back(
                base::join("rank ", rank["rank"].get<int>(), ": ", rank["broken_promise"].get<std::string>()));
    }

    const StepState& state = context_->state;
    const StepSums sums = log_ ? log_->sums() : StepSums{};
    nlohmann::ordered_json result =
        to_json(sums, ranks_of_samples(plan_, exchanges_.size()) * plan_.batch * plan_.accumulate);
    const std::optional<double> overlap = overlap_percent(sums, instruments_->exchange_ns());
    result["overlap_percent"] = overlap ? nlohmann::ordered_json(*overlap) : nullptr;
    result["ended_by"] = ends_ ? ends_->text(state) : "trials";
    result["loss"] = model_->loss() ? nlohmann::ordered_json(*model_->loss()) : nullptr;
    result["accuracy"] = outcome_.accuracy ? nlohmann::ordered_json(*outcome_.accuracy) : nullptr;
    result["parameters"] = model_->parameter_count();
    result["checksum"] = mine["checksum"];
    result["ranks_agree"] = outcome_.ranks_agree;
    result["bytes_read"] = input_->bytes_read();
    result["skipped_records"] = skipped;
    result["bytes_averaged"] = exchanges_.bytes_averaged();
    result["stopped_by_signal"] = state.stop == Stop::signal;
    result["first_step"] = state.first;
    result["resumed_from"] = files_.earlier.string();
    result["steps_undone"] = state.taken_back;
    result["checkpoints"] = nullptr;
    if (!outcome_.trials.is_null()) result["trials"] = outcome_.trials;
    strategy_->describe(result);
    for (const std::shared_ptr<Hook>& hook : hooks_.all()) hook->summarise(result, ranks);

    nlohmann::ordered_json recorded = result;
    recorded["each_rank"] = std::move(ranks);
    write_record(recorded);
    return result;
}

std::vector<std::string> Training::broken_promises() const
{
    if (exchanges_.rank() != 0) return {};
    std::vector<std::string> all = outcome_.broken_by_models;
    if (base::contains(strategy_card_.offers, equal_ranks) && !outcome_.ranks_agree &&
        !told_to_differ(plan_.alterations))
        all.emplace_back("ranks ended with different parameters: the exchange is faulty");
    if (std::optional<std::string> broken = strategy_->broken_promise()) all.push_back(std::move(*broken));
    for (const std::shared_ptr<Hook>& hook : hooks_.all())
        if (std::optional<std::string> broken = hook->broken_promise(*context_)) all.push_back(std::move(*broken));
    return all;
}

// Writes run.json twice: at the start, so that a killed training has a record, and at the end with the result.
void Training::write_record(const nlohmann::ordered_json& result)
{
    nlohmann::ordered_json record = files_.started;
    record["ranks"] = exchanges_.size();
    record["training"] = to_json(plan_);
    record["training"]["gpu"] = outcome_.gpu;
    record["training"]["shape"] = to_json(data_.shape);
    record["training"]["steps_per_epoch"] = input_->steps_per_epoch();
    if (outcome_.held_out_answers > 0) record["training"]["held_out"] = outcome_.held_out_answers;
    record["training"]["input_past_page_cache"] = input_->records().past_page_cache();
    record["transport"] = exchanges_.description();
    record["metrics"] = to_json(instruments_->metrics());
    record["metrics_left_out"] = process_metrics_.left_out();
    record["result"] = result;
    base::write_whole(files_.directory / base::file::run_record, base::json_text(record) + "\n");
}

}  // namespace ddl
