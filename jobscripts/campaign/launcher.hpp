// How the training and the noise of a run are started and ended: on this machine, as two steps of a Slurm job, or as
// two jobs of Slurm.
#pragma once

#include "base/programs/child.hpp"
#include "jobscripts/campaign/plan.hpp"
#include "jobscripts/campaign/spec.hpp"
#include "jobscripts/run/cores.hpp"

#include <memory>
#include <string>
#include <vector>

namespace crosstalk {

using Words = std::vector<std::string>;

class Launcher {
 public:
    virtual ~Launcher() = default;

    // The CPUs of training and noise on each node. Empty: Slurm chooses them. Throws UsageError where there are too
    // few.
    virtual Split cores_for(const PlannedRun& run) const = 0;

    // The words in front of a program's own: "mpirun -n 2", "srun --overlap ..".
    virtual Words training(const PlannedRun& run) const = 0;
    virtual Words noise(const PlannedRun& run) const = 0;

    virtual int nodes() const { return 1; }

    // Asks the noise, or the training, to end and to finish its records.
    virtual void end_noise(const PlannedRun& run, const base::Child& child) const = 0;
    virtual void end_training(const PlannedRun& run, const base::Child& child) const = 0;

    // Ends what is left of a run whose driver's machine went down, and would go on beside the next one. Throws Error
    // where it does not end.
    virtual void end_leftovers() const {}

    // A designed run in this directory. Throws UsageError where there is no way.
    virtual Words designed(const PlannedRun& run, const std::filesystem::path& out) const = 0;
};

std::unique_ptr<Launcher> local_launcher(const Spec& spec);
std::unique_ptr<Launcher> step_launcher(const Spec& spec, const std::string& job);
std::unique_ptr<Launcher> two_jobs_launcher(const Spec& spec, const std::string& campaign, const Words& site);

// Of a node like this one, as the spec has it, or else every other core each. Throws UsageError for too few.
Split cores_of_node(const PlannedRun& run, const Spec& spec);

// The training's own words: ddl-train and its options, or the command.
Words training_words(const PlannedRun& run, const Spec& spec);

// noisegen and its options on these CPUs, without records.
Words noise_words(const PlannedRun& run, const Spec& spec, const Split& cores);

// What noisegen on this machine says of the first of the plan's schedules that it refuses; empty if it takes all.
std::string why_no_such_noise(const Plan& plan, const Spec& spec);

}  // namespace crosstalk
