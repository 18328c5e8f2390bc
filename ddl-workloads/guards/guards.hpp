// SPDX-License-Identifier: Apache-2.0
// The guards of a training: calls them at their points of a step, writes down their findings, and reacts as requested.
#pragma once

#include "base/csv.hpp"
#include "ddl-workloads/guards/guard_options.hpp"
#include "ddl-workloads/guards/replicas.hpp"
#include "ddl-workloads/guards/state_copy.hpp"
#include "trace-tools/otf2/write/recorder.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ddl {

// State that guards examine. All of it must outlive the guards.
struct Guarded {
    otf2::Recorder& recorder;
    otf2::LocationRecorder& location;
    Model& model;
    ExchangeThread& exchanges;
    std::filesystem::path directory = {};  // holds guards.csv and divergence.csv, which may already exist
    std::int64_t trial = 0;
};

// Used by the main thread. One object serves one training; each trial of a process gets a new one.
class Guards {
 public:
    // Collective if there are guards. Throws UsageError for a model without state.
    Guards(const GuardPlan& plan, const Guarded& guarded);

    // news() is this rank's report, once a step; receive() takes the reports that all ranks posted one step earlier,
    // and is collective.
    ReplicaNews news() const { return news_; }
    void receive(std::span<const ReplicaNews> all);

    // Collective. Call right before forward, with the number of steps done. True: the state of went_back_to() steps was
    // restored, and the input must follow.
    bool before_forward(std::uint64_t step, std::int64_t steps_done);
    std::int64_t went_back_to() const { return copy_.steps_done().value_or(0); }

    // Call when the gradients are the mean over the ranks.
    void before_update(std::uint64_t step);
    bool look_at_gradients() const;

    // Call after all ranks have updated their parameters, and before the first step.
    void after_update();

    // True if this rank wants the training to end with exit code 3.
    bool stops() const { return stops_; }

    // True if a guard of this rank has found anything yet, even if the reaction only comes before the next forward.
    bool has_found() const;

    // Summary of this rank; null without guards. replicas() is the same on all ranks; null if they are not compared.
    nlohmann::ordered_json summary() const;
    nlohmann::ordered_json replicas() const;

 private:
    struct Watch {
        const GuardCard* card = nullptr;
        std::unique_ptr<Guard> guard;
        otf2::RegionRef region;
        std::set<std::pair<int, std::size_t>> last = {};  // rank and tensor of each finding in the last check
        std::int64_t caught = 0;
    };
    struct Caught {
        std::uint64_t step = 0;
        int rank = 0;
        std::size_t watch = 0;
        Finding finding;
        std::string tensor;  // path of the tensor
        bool begins = true;  // not found in the previous check
        std::string done = {};
    };

    bool act(StateLook& look, std::int64_t steps_done);
    void repair(StateLook& look);
    bool roll_back(std::int64_t steps_done);
    void note(std::size_t watch, std::uint64_t step, const std::vector<std::pair<int, Finding>>& found,
              const std::vector<std::string>& names);
    void note_mine(std::size_t watch, std::uint64_t step, std::vector<Finding> found,
                   const std::vector<std::string>& names);
    bool note_differences(const std::vector<Difference>& found);
    void settle(const std::string& done);
    std::vector<std::string> gradient_names(std::size_t count) const;

    GuardPlan plan_;
    Guarded guarded_;
    int rank_;
    std::vector<Watch> watches_;
    std::vector<Caught> caught_;  // findings without a reaction yet
    std::optional<base::CsvWriter> rows_;
    bool stops_ = false;

    std::optional<ReplicaComparison> comparison_;
    ReplicaNews news_;
    std::optional<base::CsvWriter> divergence_;    // rank 0 only
    std::vector<std::string> state_names_;         // as of the last check
    std::set<std::pair<int, std::size_t>> apart_;  // rank and tensor of each difference in the last comparison
    std::int64_t differing_ = 0;                   // comparisons that found a difference
    std::optional<std::uint64_t> first_differing_;
    otf2::MetricRef replicas_differ_;

    StateCopy copy_;
    std::int64_t caught_at_ = -1;  // largest number of steps done at a rollback
    std::int64_t rollbacks_ = 0;
    std::int64_t repaired_ = 0;
    otf2::RegionRef comparing_;
    otf2::RegionRef repairing_;
    otf2::RegionRef going_back_;
};

}  // namespace ddl
