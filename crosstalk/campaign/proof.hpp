// SPDX-License-Identifier: Apache-2.0
// Decides whether a run counts, from the records of training and noise: on every node, noise must have covered the
// training, on CPUs that the training did not use, at the requested rate.
#pragma once

#include "base/system/cpus.hpp"
#include "crosstalk/campaign/plan.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace crosstalk {

// The training's ranks on a node; times are on the node's clock.
struct TrainingOnNode {
    base::CpuSet cpus = {};
    std::int64_t begin_ns = 0;    // start of the first step
    std::int64_t counted_ns = 0;  // start of the first step after the warm-up
    std::int64_t end_ns = 0;      // end of the last step
    std::size_t steps = 0;        // steps of one rank after the warm-up
};

// An interval in which noise was on, on one CPU.
struct NoiseSlot {
    int cpu = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double reached = 1.0;  // share of the requested rate
};

using TrainingByNode = std::map<std::string, TrainingOnNode>;
using NoiseByNode = std::map<std::string, std::vector<NoiseSlot>>;

// The requested noise.
struct AskedNoise {
    bool none = false;
    bool may_share = false;     // noise may use the training's CPUs
    base::CpuSet cpus = {};     // empty: chosen by Slurm
    std::size_t cpu_count = 0;  // 0: any number
};

// Empty if the run counts; else the reason: "noise on n1 ended 4.1 s before the training".
std::string why_not_covered(const TrainingByNode& training, const NoiseByNode& noise, const AskedNoise& asked);

// The data for that decision, for the status file: CPUs and times of each node, on the node's clock.
nlohmann::ordered_json proof_by_node(const TrainingByNode& training, const NoiseByNode& noise);

// Read the data for why_not_covered() from the run's directory. `known_cpus` are the CPUs of a job that does not record
// its own. Throw Error if there are no steps.
TrainingByNode training_by_node(const std::filesystem::path& run, int warmup, const base::CpuSet& known_cpus);
NoiseByNode noise_by_node(const std::filesystem::path& run);

}  // namespace crosstalk
