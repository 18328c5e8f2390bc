// One rank's training from its first step to its last: parts, step loop, evaluation, records.
#pragma once

#include "base/cli/progress.hpp"
#include "base/files.hpp"
#include "ddl-workloads/alteration/live_alteration.hpp"
#include "ddl-workloads/alteration/stored_weights.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/loading/loader.hpp"
#include "ddl-workloads/guards/golden.hpp"
#include "ddl-workloads/guards/guards.hpp"
#include "ddl-workloads/instruments/control_delay.hpp"
#include "ddl-workloads/instruments/injected_delay.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/instruments/step_metrics.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/strategies/strategy.hpp"
#include "ddl-workloads/train/ends.hpp"
#include "ddl-workloads/train/plan.hpp"
#include "ddl-workloads/train/report.hpp"
#include "ddl-workloads/train/resume.hpp"
#include "ddl-workloads/train/skipped_records.hpp"
#include "ddl-workloads/train/steps/step_exchange.hpp"
#include "ddl-workloads/train/watch/stall_watch.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"
#include "trace-tools/training/step_rows.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ddl {

// Its parts are used by other threads: if a call throws, the job must be aborted before this is destroyed.
class Training {
 public:
    Training(const TrainingPlan& plan, const base::Registry<ModelCard>& models, ExchangeThread& exchanges,
             ProcessMetrics& process_metrics);

    // Collective. Claims DIR/train (on rank 0; throws UsageError if it is there), writes the data set, makes the parts,
    // lets all ranks agree on rank 0's parameters, and checks that its trials can be made. A failure leaves no
    // DIR/train.
    void prepare();

    // Collective, instead of run(). A training that only checks its trials leaves no DIR/train.
    void end_unused();

    // Collective. Trains until one of the plan's ends, or until some rank gets a signal; finishes the trace.
    void run();

    // Collective, after run(). On rank 0 the result (also in DIR/train/run.json), elsewhere null.
    nlohmann::ordered_json result();

    // Whether ranks ended as the strategy promises: with the same parameters if it is synchronous, and no rank was told
    // to differ. Rank 0, after result().
    bool promise_kept() const
    {
        return !strategy_card_.synchronous || ranks_agree_ || told_to_differ(plan_.alterations);
    }

    // A step that --alter names and the training has not made; none: it has made all, or a signal has ended it. Rank 0,
    // after result().
    std::optional<std::uint64_t> step_not_altered() const
    {
        if (ends_->stop() == Stop::signal) return std::nullopt;
        for (const LiveAlteration& one : plan_.alterations)
            if (std::cmp_less(one.step, first_step_) || std::cmp_greater_equal(one.step, steps_taken()))
                return one.step;
        return std::nullopt;
    }

    // Whether a guard found what must end the training (--on-guard). Rank 0, after result().
    bool stopped_by_guard() const { return stopped_by_guard_; }

    // Checkpoints that were due and could not be written; rank 0, after result().
    std::int64_t lost_checkpoints() const { return checkpointer_ ? checkpointer_->failures() : 0; }

 private:
    void prepare_parts();
    void claim();
    void describe_in_trace();
    void make_model(const ModelPlan& plan);
    void name_gpus();
    void make_checkpointer();
    void make_loader(std::int64_t steps_done);
    std::unique_ptr<Loader> loader_from(const std::shared_ptr<const Records>& records, std::int64_t first_step);
    Reading reading() const;
    void inject_delays();
    void make_alterer();
    void make_store();
    void check_guards();
    void make_guards();
    void write_record(const nlohmann::ordered_json& result);

    void take_step(std::uint64_t step);
    void pass(bool first, bool last);
    void read_stored_weights();
    void hear(const std::vector<StepNews>& news);
    bool went_back();
    std::int64_t steps_per_epoch() const;
    void finish_after_signal();
    void checkpoint(std::int64_t steps);
    bool ranks_are_equal() const
    {
        return exchanges_.size() == 1 || (strategy_card_.synchronous && !told_to_differ(plan_.alterations));
    }
    // Of the training: steps that were taken back are not among them, but among those that were taken.
    std::int64_t steps_done() const { return steps_taken() - taken_back_; }
    std::int64_t steps_taken() const { return first_step_ + sums_.steps; }
    void write_rows(const std::vector<StepNews>& news);
    void sample(std::optional<double> gradient_norm);
    void show_progress();
    void show_metrics(bool running);
    void make_trials();
    void evaluate();

    TrainingPlan plan_;
    const base::Registry<ModelCard>& models_;
    ExchangeThread& exchanges_;
    ProcessMetrics& process_metrics_;
    const StrategyCard& strategy_card_;
    DataSet data_;
    std::filesystem::path directory_;           // DIR/train
    std::optional<base::ClaimedPart> claimed_;  // rank 0
    std::optional<PartInUse> in_use_;           // rank 0
    std::filesystem::path earlier_;             // the checkpoint to go on from; empty: none
    nlohmann::ordered_json started_;

    std::optional<base::ControlFile> control_;
    std::optional<base::TrainingProcess> named_;
    std::unique_ptr<Instruments> instruments_;
    std::unique_ptr<Loader> loader_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<Strategy> strategy_;
    std::optional<ControlDelay> control_delay_;
    std::optional<DelayInjector> injector_;
    std::optional<LiveAlterer> alterer_;
    std::optional<StoredWeights> stored_;  // if weights lie in memory whose bits flip
    std::optional<Guards> guards_;
    std::optional<GoldenComparison> golden_;  // if asked for
    std::optional<StallWatch> stall_watch_;   // while it runs
    std::optional<Ends> ends_;                // from run() on
    std::optional<StepExchange> exchange_;
    std::optional<Checkpointer> checkpointer_;
    std::optional<training::StepRows> rows_;   // rank 0
    std::optional<base::Progress> progress_;   // rank 0
    std::optional<StepMetrics> step_metrics_;  // rank 0, if asked for

    bool step_follows_at_once_ = true;  // no evaluation or checkpoint since the last step: what was asked still holds
    std::int64_t first_step_ = 0;       // so many were made before this run
    std::int64_t taken_back_ = 0;       // steps, by a guard
    std::int64_t earlier_bytes_read_ = 0;  // by the loaders of steps that were taken back
    StepNews news_;
    StepSums sums_;
    std::int64_t evaluated_after_ = 0;  // steps
    std::optional<double> accuracy_;    // rank 0
    bool ranks_agree_ = true;
    bool stopped_by_guard_ = false;  // rank 0
    SkippedRecords skipped_;
    nlohmann::ordered_json gpu_;         // on which it computes; null: on none
    std::int64_t held_out_answers_ = 0;  // of --trials
    nlohmann::ordered_json trials_;      // rank 0: how they went; null: none
};

}  // namespace ddl
