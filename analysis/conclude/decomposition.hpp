// SPDX-License-Identifier: Apache-2.0
// Splits a slowdown, of a designed run or between sets of runs, into parts: own work on the critical rank, waiting for
// others, transfer, input, checkpoint, and an unexplained rest.
#pragma once

#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/sets/comparison.hpp"
#include "analysis/input/step_work/work.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// The change of one part of a rank's step, in percent of the quiet step.
struct Change {
    int rank = 0;
    std::string name;  // a part, or a region of own work
    double percent = 0.0;
    Interval interval;
};

// The resource that the noise takes from the training.
enum class Resource { unknown, memory, network, io, cpu, gpu };
std::string text(Resource resource);  // "memory", "I/O", "GPU"; empty for unknown

inline constexpr const char* unexplained = "unexplained";  // name of the rest that no other part explains

struct Decomposition {
    double step_percent = 0.0;
    Interval step_interval;

    // The rank whose own work, input and checkpoints together grew most, if that growth differs from zero; otherwise
    // none, and `rank` is 0.
    std::optional<int> critical_rank;
    int rank = 0;                 // the rank to which the parts belong
    std::string region;           // region in which its own work grew most; empty without a critical rank
    double region_percent = 0.0;  // growth of that region
    // Own work, input, checkpoint, waiting, transfer, unexplained. They add up to step_percent; the last has no
    // interval.
    std::vector<Change> parts;
    std::optional<Change> waits;   // the rank that waits longer for the critical rank, if one does
    std::vector<Change> of_ranks;  // parts of each rank's step
    std::vector<Change> own;       // own work of each rank, by region

    Resource resource = Resource::unknown;
    bool by_design = false;  // true: named after the stressor; false: inferred from what the noise changed
    std::string evidence;    // why this resource is named
};

// parts: all part_names of each rank. own: the regions of each rank. Both may be empty; then all is unexplained.
Decomposition decompose(double step_percent, const Interval& step, const std::vector<Change>& parts,
                        const std::vector<Change>& own);

// Decomposes an effect on the job's step by the effects on the parts of each rank's step and on its own work. None if
// the table has no effects on parts.
std::optional<Decomposition> decomposition_of(const EffectTable& effects, const Effect& step, double confidence);

// Decomposes the slowdown between two sets of runs; names the resource by its signature.
Decomposition decomposition_of(const Comparison& comparison);

// The resource that a stressor uses: memory for "memory.stream".
Resource resource_of_stressor(const std::string& stressor);

// Names the resource by its signature, for noise without a design. cpu_percent: growth of the critical rank's CPU time,
// if known.
void name_resource(Decomposition& found, std::optional<double> cpu_percent);

// Name of the largest part of the slowdown; empty if the slowdown does not differ from zero.
std::string largest_part(const Decomposition& found);

// Where a region of own work is: "before MPI_Allreduce", "in backward".
std::string where(const std::string& region);

// "rank 1 spends 25.1 % more in backward, rank 0 waits 25.0 % longer for it"; empty without a critical rank.
std::string sentence(const Decomposition& found);

}  // namespace analysis
