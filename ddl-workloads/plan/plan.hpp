// SPDX-License-Identifier: Apache-2.0
// The request to ddl-train, checked.
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
    int accumulate = 1;      // passes of a step
    EndPlan ends;
    std::uint64_t seed = 1;

    PlacementPlan placement;
    DevicePlan device;
    InputPlan input;
    CheckpointPlan checkpoint;
    std::string resume;  // a directory, "auto", or empty

    DelayPlan delays;
    std::vector<LiveAlteration> alterations;
    StorePlan store;
    GuardPlan guards;
    std::vector<base::Trial> trials;  // none: it trains
    bool only_check = false;          // whether the training can make them
    RecordingPlan recording;
    std::filesystem::path out;
    bool json = false;  // of what is printed in the end
};

// Do its plug-ins and options go together? Throws UsageError if one of them needs what none of the others offers.
void check_choices(const TrainingPlan& plan, const base::Registry<ModelCard>& models);

}  // namespace ddl
