// SPDX-License-Identifier: Apache-2.0
// A run whose noise followed a plan: the training's steps, and the slots of the noise.
#pragma once

#include "analysis/input/evidence.hpp"
#include "analysis/input/gpu/gpu_work.hpp"
#include "analysis/input/slots.hpp"
#include "analysis/input/step_work/work.hpp"
#include "analysis/input/steps.hpp"

#include <string>
#include <vector>

namespace analysis {

// The input of an analysis: a run's steps, its slots, and the plan of its noise.
struct DesignedRun {
    StepTable steps;
    std::vector<std::vector<Slot>> slots;  // [rank]: the job's slot table on the clock of the rank's node
    Experiment plan;
    std::vector<std::vector<TimeSpan>> stopped;  // [rank]: spans in which control.pause stopped it, on the same clock
    bool computes_while_stopped = false;         // as on a GPU: a pause then costs less than its length
    bool computes_on_gpu = false;                // a delay of the host may then be hidden by queued work

    Work work;          // of each rank; empty if not known
    GpuWork gpu;        // work of GPUs; only of a single run
    Evidence evidence;  // time lost to the operating system; only of a single run

    // Measures of the job's steps other than phases: steps x extra_names, in ms.
    LongTable extra_ms;
    std::vector<std::string> extra_names;
};

// Time of the rank's step in which control.pause held it stopped.
inline double stopped_ms(const DesignedRun& run, std::size_t rank, std::size_t step)
{
    const RankSteps& steps = run.steps.ranks[rank];
    return 1e-6 * static_cast<double>(overlap_ns(steps.begin_ns[step], steps.end_ns[step], run.stopped[rank]));
}

}  // namespace analysis
