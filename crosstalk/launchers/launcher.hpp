// SPDX-License-Identifier: Apache-2.0
// How the job and the noise of a run are started and ended: on this machine, as two steps of the Slurm job that this
// process is in, or as two jobs of Slurm.
#pragma once

#include "crosstalk/launchers/cores.hpp"
#include "crosstalk/programs/programs.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace crosstalk {

// CPUs and ranks of job and noise on each node; all nodes are alike.
struct Placement {
    int ranks = 0;                          // of the job, on all nodes; 0: its command starts them itself
    Split cores;                            // empty: Slurm chooses them
    std::string noise_cores;                // where Slurm chooses: how many of each node are the noise's
    std::vector<base::CpuSet> each_rank{};  // of a node, in order; empty: its ranks share the job's
};

class Launcher {
 public:
    virtual ~Launcher() = default;

    virtual int nodes() const { return 1; }

    // The words in front of a program's own: "mpirun -n 2", "srun --overlap ..".
    virtual Words job(const Placement& placement) const = 0;
    virtual Words noise(const Placement& placement) const = 0;
    virtual Words evidence(const Placement& placement) const { return noise(placement); }

    // Does Slurm choose the cores, so that a placement has none?
    virtual bool chooses_cores() const { return false; }

    // Options with which crosstalk run starts a run here. Throws UsageError where it cannot.
    virtual Words options_of_run(const Placement&) const { return {}; }

    // Are the job's processes descendants of this one, that get its signals, and whose exit code is the child's?
    virtual bool is_parent() const { return true; }

    // Asks the noise, the evidence, or the job, to end and to finish its records.
    virtual void end_noise(const base::Child& child) const;
    virtual void end_evidence(const base::Child& child) const;
    virtual void end_job(const base::Child& child) const;

    // Ends leftovers of a run whose driver's machine went down and that would disturb the next one. Throws Error
    // where it does not end.
    virtual void end_leftovers() const {}

    // Writes what the run was given (nodes, CPUs) into files of its log, for people.
    virtual void write_records(const std::filesystem::path& log) const;

    // "n1", "n2"; empty where there is one.
    virtual Words node_names() const { return {}; }
};

// noise_launch: words in front of noisegen's that start one on each node; empty: one here.
std::unique_ptr<Launcher> local_launcher(const std::string& noise_launch = {});

// Steps of the job that this process is in. Throws UsageError where it has another number of nodes; 0: as many as it
// has.
std::unique_ptr<Launcher> step_launcher(int nodes, int gpus_per_node = 0);

// `name`: of the jobs, in front of "-noise" and "-training". `site`: options for each srun.
std::unique_ptr<Launcher> two_jobs_launcher(int nodes, const std::string& name, const Words& site);

}  // namespace crosstalk
