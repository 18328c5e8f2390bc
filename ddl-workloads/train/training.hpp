// SPDX-License-Identifier: Apache-2.0
// One rank's training from its first step to its last: makes its parts, runs its steps, evaluates and reports.
#pragma once

#include "base/contract/checkpoint_table.hpp"
#include "base/contract/control_file.hpp"
#include "base/files.hpp"
#include "ddl-workloads/data/data_set.hpp"
#include "ddl-workloads/data/loading/batch_source.hpp"
#include "ddl-workloads/hooks/make_hooks.hpp"
#include "ddl-workloads/hooks/step_log.hpp"
#include "ddl-workloads/instruments/instruments.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/plan/plan.hpp"
#include "ddl-workloads/strategies/strategy.hpp"
#include "ddl-workloads/train/resume.hpp"
#include "ddl-workloads/transports/exchange_thread.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

// Other threads use its members: if a call throws, the job must be aborted before this object is destroyed.
class Training {
 public:
    Training(const TrainingPlan& plan, const base::Registry<ModelCard>& models, ExchangeThread& exchanges,
             ProcessMetrics& process_metrics);

    // Collective. Claims DIR/train (on rank 0; throws UsageError if it exists), writes the data set, makes the parts,
    // gives all ranks rank 0's parameters, and checks that the trials can be made. On failure DIR/train is removed.
    void prepare();

    // Collective; call it instead of run(). A training that only checks its trials leaves no DIR/train.
    void end_unused();

    // Collective. Trains until one of the plan's conditions ends the training, or until some rank gets a signal;
    // finishes the trace.
    void run();

    // Collective; call it after run(). Returns the result on rank 0 (also written to DIR/train/run.json), null
    // elsewhere.
    nlohmann::ordered_json result();

    // Requests that were not met, one line each. Call it on rank 0 after result(); empty elsewhere.
    std::vector<std::string> broken_promises() const;

 private:
    // The control file. It holds the name of this process while the process runs.
    struct Control {
        Control(const std::filesystem::path& run, const std::string& host)
            : file{base::ControlFile::open(run, host)}, named{file.page()}
        {
        }
        base::ControlFile file;
        base::TrainingProcess named;
    };
    struct Files {
        std::filesystem::path directory;                // DIR/train
        std::filesystem::path earlier = {};             // the checkpoint to resume from; empty: none
        base::checkpoint::Restart restart = {};         // of this rank, if there is one
        nlohmann::ordered_json started = {};            // start time, user and hosts
        std::optional<base::ClaimedPart> claimed = {};  // claimed and in_use: rank 0 only
        std::optional<PartInUse> in_use = {};
        std::unique_ptr<Control> control = {};
    };
    struct Outcome {
        std::int64_t evaluated_after = 0;  // step of the last evaluation
        std::optional<double> accuracy;    // rank 0
        bool ranks_agree = true;
        std::vector<std::string> broken_by_models;  // rank 0
        std::int64_t held_out_answers = 0;          // with --trials
        nlohmann::ordered_json trials;              // rank 0: outcome of the trials; null: no trials
        nlohmann::ordered_json gpu;                 // the GPU that computes; null: none
    };

    void prepare_parts();
    void check_plan() const;
    void claim();
    void make_instruments(base::ControlPage* page);
    void describe_in_trace();
    void make_input(std::int64_t first_step);
    void make_model(const ModelPlan& plan);
    void make_strategy(std::int64_t first_step);
    void name_gpus();
    void make_hooks(base::ControlPage* page);

    void train();
    void make_trials();
    void evaluate();
    void finish();

    nlohmann::ordered_json record_of_rank() const;
    void write_record(const nlohmann::ordered_json& result);
    std::unique_ptr<Records> held_out() const;
    bool ranks_are_equal() const;

    TrainingPlan plan_;
    const base::Registry<ModelCard>& models_;
    ExchangeThread& exchanges_;
    ProcessMetrics& process_metrics_;
    const StrategyCard& strategy_card_;
    DataSet data_;
    Files files_;
    std::unique_ptr<Instruments> instruments_;
    std::unique_ptr<BatchSource> input_;
    std::unique_ptr<Model> model_;
    std::unique_ptr<Strategy> strategy_;
    Hooks hooks_;
    std::shared_ptr<Ends> ends_;  // ends_ and log_: null with --trials
    std::shared_ptr<StepLog> log_;
    std::optional<StepContext> context_;
    Outcome outcome_;
};

}  // namespace ddl
