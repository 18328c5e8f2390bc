// What ddl-train was asked to do, checked.
#pragma once

#include "base/cpus.hpp"
#include "base/units.hpp"
#include "ddl-workloads/checkpoint/checkpointer.hpp"
#include "ddl-workloads/data/batch.hpp"
#include "ddl-workloads/data/records.hpp"
#include "ddl-workloads/details.hpp"
#include "ddl-workloads/injected_delay.hpp"
#include "ddl-workloads/models/model.hpp"
#include "ddl-workloads/strategies/strategy.hpp"
#include "ddl-workloads/transports/link.hpp"

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
    int readers = 1;
    int queue = 4;
    int transformers = 0;
    Augmentation augmentation;
    Access access = Access::buffered;
    bool skip_corrupt = false;
    std::filesystem::path data_directory;  // empty: out/data

    CheckpointPlan checkpoint;
    std::string resume;  // a directory, "auto", or empty

    base::Nanoseconds control_delay{0};  // 0: no control
    std::vector<InjectedDelay> delays;
    bool trace = true;
    base::Bytes trace_memory{0};  // of each rank's events; 0: a chunk for each thread
    DetailLevel instrument = DetailLevel::L0;
    TraceSteps trace_steps;        // whose details are recorded
    std::string metrics = "auto";  // of the rank's process: as ProcessMetrics takes it
    std::filesystem::path out;
};

// Empty if --help, --version or --list was asked for and has been printed. Throws UsageError.
std::optional<TrainingPlan> parse_plan(int argc, char** argv, const base::Shelf<ModelCard>& models);

}  // namespace ddl
