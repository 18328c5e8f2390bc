// SPDX-License-Identifier: Apache-2.0
// The guards of a training: asks them at their moments of a step, writes down what they find, and does what was asked
// for about it.
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

// State that guards examine. All of it must outlive them.
struct Guarded {
    otf2::Recorder& recorder;
    otf2::LocationRecorder& location;
    Model& model;
    ExchangeThread& exchanges;
    std::filesystem::path directory = {};  // of guards.csv and divergence.csv, which may be there
    std::int64_t trial = 0;
};

// Used by the main thread. One object serves one training; the next trial of a process gets a new one.
class Guards {
 public:
    // Collective if there are guards. Throws UsageError for a model without state.
    Guards(const GuardPlan& plan, const Guarded& guarded);

    // This rank's report to the others once a step; the reports of all, one step earlier. receive() is collective.
    ReplicaNews news() const { return news_; }
    void receive(std::span<const ReplicaNews> all);

    // Right before forward; `steps_done` of the training so far. Collective. True: the state is again that of
    // went_back_to() steps done, and so must be the input.
    bool before_forward(std::uint64_t step, std::int64_t steps_done);
    std::int64_t went_back_to() const { return copy_.steps_done().value_or(0); }

    // The gradients are the mean over the ranks.
    void before_update(std::uint64_t step);
    bool look_at_gradients() const;

    // Parameters are updated, on all ranks; also before the first step.
    void after_update();

    // This rank wants the training to end, with exit code 3.
    bool stops() const { return stops_; }

    // Whether a guard of this rank has found anything yet, also if nothing is done about it before the next forward.
    bool has_found() const;

    // Summary of this rank; null without guards. `replicas`: the same on all ranks; null if they are not compared.
    nlohmann::ordered_json summary() const;
    nlohmann::ordered_json replicas() const;

 private:
    struct Watch {
        const GuardCard* card = nullptr;
        std::unique_ptr<Guard> guard;
        otf2::RegionRef region;
        std::set<std::pair<int, std::size_t>> last = {};  // rank and tensor of what it found in its last look
        std::int64_t caught = 0;
    };
    struct Caught {
        std::uint64_t step = 0;
        int rank = 0;
        std::size_t watch = 0;
        Finding finding;
        std::string tensor;  // its path
        bool begins = true;  // was not there in the look before
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
    std::vector<Caught> caught_;  // that nothing was done about yet
    std::optional<base::CsvWriter> rows_;
    bool stops_ = false;

    std::optional<ReplicaComparison> comparison_;
    ReplicaNews news_;
    std::optional<base::CsvWriter> divergence_;    // rank 0
    std::vector<std::string> state_names_;         // at the last look
    std::set<std::pair<int, std::size_t>> apart_;  // rank and tensor, when ranks were last compared
    std::int64_t differing_ = 0;                   // comparisons that found a difference
    std::optional<std::uint64_t> first_differing_;
    otf2::MetricRef replicas_differ_;

    StateCopy copy_;
    std::int64_t caught_at_ = -1;  // most steps done at which the state was taken back
    std::int64_t rollbacks_ = 0;
    std::int64_t repaired_ = 0;
    otf2::RegionRef comparing_;
    otf2::RegionRef repairing_;
    otf2::RegionRef going_back_;
};

}  // namespace ddl
