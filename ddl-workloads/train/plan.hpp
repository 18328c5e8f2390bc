// What ddl-train was asked to do, checked.
#pragma once

#include "base/cpus.hpp"
#include "base/units.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/data/input_options.hpp"
#include "ddl-workloads/instruments/injected_delay.hpp"
#include "ddl-workloads/instruments/recording_options.hpp"
#include "ddl-workloads/models/model.hpp"
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
    OptimizerPlan optimizer;

    std::int64_t batch = 8;  // samples of one rank and pass
    int accumulate = 1;      // passes of a step
    std::int64_t steps = 0;  // each of these three: 0 for no such end; the first one reached counts
    std::int64_t epochs = 0;
    base::Nanoseconds duration{0};
    std::optional<double> until_loss;                // mean of all ranks over the last ten steps
    std::optional<double> until_accuracy;            // 0 to 1, on held-out images at the end of an epoch
    base::Nanoseconds stall_after{300'000'000'000};  // 0: never
    std::uint64_t seed = 1;

    int threads = 1;
    std::optional<base::CpuSet> cpus;
    std::optional<base::CpuSet> transport_cpus;  // none: as the other threads
    InputPlan input;
    CheckpointPlan checkpoint;
    std::string resume;  // a directory, "auto", or empty

    base::Nanoseconds control_delay{0};  // 0: no control
    std::vector<InjectedDelay> delays;
    RecordingPlan recording;
    std::filesystem::path out;
};

// Empty if --help, --version or --list was asked for and has been printed. Throws UsageError.
std::optional<TrainingPlan> parse_plan(int argc, char** argv, const base::Registry<ModelCard>& models);

}  // namespace ddl
