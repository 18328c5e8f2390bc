// One rank's training from its first step to its last: parts, step loop, evaluation, records.
#pragma once

#include "base/files.hpp"
#include "base/progress.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/checkpoint/resume.hpp"
#include "ddl-workloads/control_delay.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/loader.hpp"
#include "ddl-workloads/injected_delay.hpp"
#include "ddl-workloads/instruments.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/plan.hpp"
#include "ddl-workloads/report.hpp"
#include "ddl-workloads/stall_watch.hpp"
#include "ddl-workloads/step_exchange.hpp"
#include "ddl-workloads/step_rows.hpp"
#include "ddl-workloads/strategies/strategy.hpp"
#include "ddl-workloads/transports/transport.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace ddl {

// Its parts are used by other threads: if a call throws, the job must be aborted before this is destroyed.
class Training {
 public:
    Training(const TrainingPlan& plan, const base::Shelf<ModelCard>& models, Transport& transport,
             ProcessMetrics& process_metrics);

    // Collective. Claims DIR/train (on rank 0; throws UsageError if it is there), writes the data set, makes the parts,
    // and lets all ranks agree on rank 0's parameters. A failure of rank 0 leaves no DIR/train.
    void prepare();

    // Collective. Trains until one of the plan's ends, or until some rank gets a signal; finishes the trace.
    void run();

    // Collective, after run(). On rank 0 the result (also in DIR/train/run.json), elsewhere null.
    nlohmann::ordered_json result();

    // Whether ranks ended as the strategy promises: with the same parameters if it is synchronous. Rank 0, after
    // result().
    bool promise_kept() const { return !strategy_card_.synchronous || ranks_agree_; }

    // Checkpoints that were due and could not be written; rank 0, after result().
    std::int64_t lost_checkpoints() const { return checkpointer_ ? checkpointer_->failures() : 0; }

 private:
    void prepare_parts();
    void claim();
    void describe_in_trace();
    void make_model(const ModelPlan& plan);
    void find_earlier();
    void restore();
    void make_checkpointer();
    void make_loader();
    Reading reading() const;
    void tell_skipped(const std::string& fault);
    void inject_delays();
    void agree(const std::vector<std::span<std::byte>>& memory);
    void write_record(const nlohmann::ordered_json& result);

    void take_step(std::uint64_t step);
    void pass(bool last);
    std::int64_t steps_per_epoch() const;
    void checkpoint_if_due();
    std::vector<StateTensor> state();
    CheckpointMeta checkpoint_meta() const;
    std::int64_t steps_done() const { return first_step_ + sums_.steps; }
    void write_rows(const std::vector<StepNews>& news);
    void sample(std::optional<double> gradient_norm);
    void show_progress();
    Stop wish() const;
    bool is_last(std::uint64_t step) const;
    bool ends_epoch(std::uint64_t step) const;
    bool loss_is_low_enough(const std::vector<StepNews>& news);
    std::string ended_by() const;
    void evaluate();

    TrainingPlan plan_;
    const base::Shelf<ModelCard>& models_;
    Transport& transport_;
    ProcessMetrics& process_metrics_;
    const StrategyCard& strategy_card_;
    DataSet data_;
    std::filesystem::path directory_;           // DIR/train
    std::optional<base::ClaimedPart> claimed_;  // rank 0
    std::optional<PartInUse> in_use_;           // rank 0
    std::filesystem::path earlier_;             // the checkpoint to go on from; empty: none
    nlohmann::ordered_json started_;

    std::optional<base::ControlFile> control_;
    std::unique_ptr<Instruments> instruments_;
    std::unique_ptr<Loader> loader_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<Strategy> strategy_;
    std::optional<ControlDelay> control_delay_;
    std::optional<DelayInjector> injector_;
    std::optional<StallWatch> stall_watch_;  // while it runs
    std::optional<StepExchange> exchange_;
    std::optional<Checkpointer> checkpointer_;
    std::optional<StepRows> rows_;            // rank 0
    std::optional<base::Progress> progress_;  // rank 0

    std::int64_t first_step_ = 0;  // so many were made before this run
    std::int64_t begun_ns_ = 0;
    Stop stop_ = Stop::no;
    StepNews news_;
    StepSums sums_;
    std::deque<double> losses_;         // of the last steps, each the mean of all ranks
    std::int64_t evaluated_after_ = 0;  // steps
    std::optional<double> accuracy_;    // rank 0
    bool ranks_agree_ = true;
    std::int64_t skipped_ = 0;           // corrupt records that this rank met
    std::set<std::string> told_faults_;  // of them
};

}  // namespace ddl
