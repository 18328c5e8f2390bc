// SPDX-License-Identifier: Apache-2.0
// Parts of a slowdown: own work on the critical rank, waiting for others, transfer, input, checkpoint, and what
// is left unexplained. Of a designed run and of sets of runs alike.
#pragma once

#include "analysis/estimate/analyse.hpp"
#include "analysis/estimate/sets/comparison.hpp"
#include "analysis/input/step_work/work.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// By how much something of a rank's step changed, in percent of the quiet step.
struct Change {
    int rank = 0;
    std::string name;  // a part, or a region of own work
    double percent = 0.0;
    Interval interval;
};

// The resource that a slowdown is limited by.
enum class Resource { unknown, memory, network, io, cpu, gpu };
std::string text(Resource resource);  // "memory", "I/O", "GPU"; empty for unknown

inline constexpr const char* unexplained = "unexplained";  // the part that is left

struct Decomposition {
    double step_percent = 0.0;
    Interval step_interval;

    // The rank whose own work, input and checkpoints together grew most, if that differs from zero; else the one whose
    // step the parts are of is the first, and no rank is critical.
    std::optional<int> critical_rank;
    int rank = 0;                  // whose parts these are
    std::string region;            // in which its own work grew most; empty without a critical rank
    double region_percent = 0.0;   // by so much
    std::vector<Change> parts;     // own work, input, checkpoint, waiting, transfer; then "unexplained". They add up to
                                   // step_percent; the last has no interval
    std::optional<Change> waits;   // the rank that waits longer for the critical one, if one does
    std::vector<Change> of_ranks;  // parts of every rank's step
    std::vector<Change> own;       // own work of every rank, by region

    Resource resource = Resource::unknown;
    bool by_design = false;  // the resource is what the noise was designed to use; else by its signature
    std::string evidence;    // for the resource
};

// parts: of each rank all of part_names; own: of each rank its regions. Both may be empty: then all is unexplained.
Decomposition decompose(double step_percent, const Interval& step, const std::vector<Change>& parts,
                        const std::vector<Change>& own);

// Decomposition of an effect on the job's step, by the effects on the parts of each rank's step and on its own work;
// none if are none.
std::optional<Decomposition> decomposition_of(const EffectTable& effects, const Effect& step, double confidence);

// The same of sets of runs; the resource by its signature.
Decomposition decomposition_of(const Comparison& comparison);

// The resource that noise of that stressor uses: "memory.stream" memory.
Resource resource_of_stressor(const std::string& stressor);

// By signature, where nothing was designed. cpu_percent: by how much the critical rank's CPU time grew, if it is known.
void name_resource(Decomposition& found, std::optional<double> cpu_percent);

// The part with the most of the slowdown, by its name; empty without a slowdown that differs from zero.
std::string largest_part(const Decomposition& found);

// "before MPI_Allreduce", "in backward"
std::string where(const std::string& region);

// "rank 1 spends 25.1 % more in backward, rank 0 waits 25.0 % longer for it"; empty without a critical rank.
std::string sentence(const Decomposition& found);

}  // namespace analysis
