// SPDX-License-Identifier: Apache-2.0
// Does a run count? From what training and noise recorded: noise covered the training on every node, on CPUs that it
// did not use, at the rate asked for.
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

// The training's part on a node, times on the node's clock.
struct TrainingOnNode {
    base::CpuSet cpus = {};
    std::int64_t begin_ns = 0;    // of its first step
    std::int64_t counted_ns = 0;  // of its first step after the warm-up
    std::int64_t end_ns = 0;      // of its last step
    std::size_t steps = 0;        // of one rank, after the warm-up
};

// From when to when noise was on, on a CPU.
struct NoiseSlot {
    int cpu = 0;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;
    double reached = 1.0;  // share of the rate asked for
};

using TrainingByNode = std::map<std::string, TrainingOnNode>;
using NoiseByNode = std::map<std::string, std::vector<NoiseSlot>>;

// The noise that was asked for.
struct AskedNoise {
    bool none = false;
    bool may_share = false;     // the training's CPUs
    base::CpuSet cpus = {};     // empty: wherever Slurm puts it
    std::size_t cpu_count = 0;  // 0: any
};

// Empty if the run counts, else why not: "noise on n1 ended 4.1 s before the training".
std::string why_not_covered(const TrainingByNode& training, const NoiseByNode& noise, const AskedNoise& asked);

// Basis of that decision, for the status file: CPUs and times of each node, on the node's clock.
nlohmann::ordered_json proof_by_node(const TrainingByNode& training, const NoiseByNode& noise);

// Reads them from the run's directory. `known_cpus` are those of a job that does not record its own. Throws Error where
// there are no steps.
TrainingByNode training_by_node(const std::filesystem::path& run, int warmup, const base::CpuSet& known_cpus);
NoiseByNode noise_by_node(const std::filesystem::path& run);

}  // namespace crosstalk
