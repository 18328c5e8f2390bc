// SPDX-License-Identifier: Apache-2.0
// Runs trials one after the other in one process: for each, state, data and random numbers are restored from memory,
// bits are flipped, training continues, and the outcome is written as a row.
#pragma once

#include "base/contract/trials.hpp"
#include "ddl-workloads/alteration/stored_weights.hpp"
#include "ddl-workloads/guards/guards.hpp"
#include "ddl-workloads/step/strategy.hpp"
#include "ddl-workloads/trials/drawn_alteration.hpp"
#include "ddl-workloads/trials/outcome_file.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

// Parts of a training that the loop uses; all must outlive the loop.
struct TrialParts {
    Strategy& strategy;
    StepContext& context;
    Guarded guarded;  // state for the guards of trials
    std::string strategy_name;
    std::function<std::optional<double>()> accuracy;                       // collective; result on rank 0
    std::function<std::string()> checksum;                                 // checksum of this rank's parameters
    std::function<void(double fraction, const std::string& detail)> show;  // shows progress
};

class TrialLoop {
 public:
    // The trials must have passed check_trials(). Rank 0 opens outcomes.csv in `directory`. Throws Error.
    TrialLoop(TrialParts parts, const std::vector<base::Trial>& trials, const std::filesystem::path& directory);

    // Collective. Trains once without disturbance, then makes the trials missing in outcomes.csv. After a signal it
    // stops between two trials. At the end the model has the state of the earliest trial's start.
    void run();

    std::size_t ended() const { return outcomes_ ? outcomes_->ended() : 0; }  // counted on rank 0
    std::size_t crashed() const { return outcomes_ ? outcomes_->crashed() : 0; }
    bool stopped() const { return stopped_; }

 private:
    struct OfRank;
    class OneTrial;

    void train_undisturbed();
    std::string all_state_checksums();
    std::optional<double> guess();
    std::size_t first_to_make();
    bool agree_to_stop();
    std::int64_t number_of(const base::Trial& trial) const;  // counted from 1
    void make(const base::Trial& trial);
    OfRank go_on(const base::Trial& trial, std::string& accuracies, std::optional<double>& accuracy);
    void alter(const base::Trial& trial, OfRank& mine, std::optional<StoredWeights>& stored);
    std::optional<double> look(StoredWeights* stored, bool last);
    void go_to(std::int64_t step);
    void write(const base::Trial& trial, const std::vector<std::string>& ranks, base::Outcome outcome);

    TrialParts parts_;
    Model& model_;
    ExchangeThread& exchanges_;
    const std::vector<base::Trial>& trials_;
    std::optional<OutcomeFile> outcomes_;  // rank 0 only
    std::map<std::int64_t, StateCopy> moments_;
    std::vector<double> losses_;                       // loss of each step of the undisturbed training
    std::map<std::int64_t, std::string> undisturbed_;  // rank 0: checksums of the undisturbed state, by number of steps
    std::shared_ptr<OneTrial> at_hand_;
    bool stopped_ = false;
};

}  // namespace ddl
