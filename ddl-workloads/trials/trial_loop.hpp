// SPDX-License-Identifier: Apache-2.0
// Trials one after the other in a training that stays warm: state, data and random numbers are set back from memory,
// bits flip, it trains on, and its outcome is a row.
#pragma once

#include "base/contract/trials.hpp"
#include "ddl-workloads/alteration/stored_weights.hpp"
#include "ddl-workloads/step/strategy.hpp"
#include "ddl-workloads/trials/drawn_alteration.hpp"
#include "ddl-workloads/trials/outcome_file.hpp"
#include "ddl-workloads/trials/snapshot.hpp"
#include "ddl-workloads/trials/trial_guards.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

// Parts of a training that the loop uses; all of it outlives the loop.
struct TrialParts {
    Strategy& strategy;
    StepContext& context;
    Guarded guarded;  // of the guards that trials have
    std::string strategy_name;
    std::function<std::optional<double>()> accuracy;                       // collective; on rank 0
    std::function<std::string()> checksum;                                 // of this rank's parameters
    std::function<void(double fraction, const std::string& detail)> show;  // how far they are
};

class TrialLoop {
 public:
    // Makes trials that check_trials() lets pass. Rank 0 opens outcomes.csv there. Throws Error.
    TrialLoop(TrialParts parts, const std::vector<base::Trial>& trials, const std::filesystem::path& directory);

    // Collective. Trains once, undisturbed, then makes the trials that outcomes.csv lacks. Ends between two trials
    // after a signal. The model is then as at the first moment.
    void run();

    std::size_t ended() const { return outcomes_ ? outcomes_->ended() : 0; }  // rank 0
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
    std::int64_t number_of(const base::Trial& trial) const;  // from 1
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
    std::optional<OutcomeFile> outcomes_;  // rank 0
    std::map<std::int64_t, Snapshot> moments_;
    std::vector<double> losses_;                       // of each step of the undisturbed training
    std::map<std::int64_t, std::string> undisturbed_;  // rank 0: checksum of the state by number of steps
    std::shared_ptr<OneTrial> at_hand_;
    bool stopped_ = false;
};

}  // namespace ddl
