// SPDX-License-Identifier: Apache-2.0
// The options of ddl-train, parsed and checked.
#pragma once

#include "base/contract/trials.hpp"
#include "ddl-workloads/alteration/live_alteration.hpp"
#include "ddl-workloads/alteration/stored_weights.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/data/loading/input_options.hpp"
#include "ddl-workloads/devices/device_plan.hpp"
#include "ddl-workloads/guards/guard_options.hpp"
#include "ddl-workloads/instruments/injected_delay.hpp"
#include "ddl-workloads/instruments/recording_options.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/plan/end_options.hpp"
#include "ddl-workloads/plan/placement.hpp"
#include "ddl-workloads/strategies/strategy.hpp"
#include "ddl-workloads/transports/transport.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ddl {

struct TrainingPlan {
    std::string model;
    std::string data = "digits";
    std::string strategy = "ddp";
    std::string transport = "mpi";
    Progress progress;
    bool progress_given = false;
    OptimizerPlan optimizer;

    std::int64_t batch = 8;  // samples per rank and pass
    int accumulate = 1;      // passes per step
    EndPlan ends;
    std::uint64_t seed = 1;

    PlacementPlan placement;
    DevicePlan device;
    InputPlan input;
    CheckpointPlan checkpoint;
    std::string resume;  // a directory, "auto", or empty (no resume)

    DelayPlan delays;
    std::vector<LiveAlteration> alterations;
    StorePlan store;
    GuardPlan guards;
    std::string soft_errors;          // text of --soft-errors; empty: none
    std::vector<base::Trial> trials;  // empty: an ordinary training
    bool only_check = false;          // check that the trials can be made, but do not make them
    RecordingPlan recording;
    std::map<std::string, std::string> hook_options;  // options on the cards of hooks, by name
    std::filesystem::path out;
    bool json = false;  // print the result as JSON
};

// The number of ranks among which a step's samples are divided: 1 if all ranks train with the same samples.
int ranks_of_samples(const TrainingPlan& plan, int ranks);

// Checks that plug-ins and options fit together. Throws UsageError if a plug-in needs something that no other plug-in
// offers.
void check_choices(const TrainingPlan& plan, const base::Registry<ModelCard>& models);

}  // namespace ddl
