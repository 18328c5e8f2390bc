// SPDX-License-Identifier: Apache-2.0
// One rank's training from its first step to its last: makes its parts, drives its steps, evaluates, reports.
#pragma once

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

    // Requests that were not met, a line each. On rank 0, after result(); elsewhere none.
    std::vector<std::string> broken_promises() const;

 private:
    // The control file, and the name of this process in it while it runs.
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
        std::filesystem::path earlier = {};             // the checkpoint to go on from; empty: none
        nlohmann::ordered_json started = {};            // when, by whom, where
        std::optional<base::ClaimedPart> claimed = {};  // this and the next: rank 0
        std::optional<PartInUse> in_use = {};
        std::unique_ptr<Control> control = {};
    };
    struct Outcome {
        std::int64_t evaluated_after = 0;  // steps
        std::optional<double> accuracy;    // rank 0
        bool ranks_agree = true;
        std::int64_t held_out_answers = 0;  // of --trials
        nlohmann::ordered_json trials;      // rank 0: how they went; null: none
        nlohmann::ordered_json gpu;         // on which it computes; null: on none
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
    std::shared_ptr<Ends> ends_;  // this and the next: none if it makes trials
    std::shared_ptr<StepLog> log_;
    std::optional<StepContext> context_;
    Outcome outcome_;
};

}  // namespace ddl
