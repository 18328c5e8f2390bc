// SPDX-License-Identifier: Apache-2.0
// Launchers start and end the job and the noise of a run: on this machine, as two steps of the present Slurm job, or as
// two Slurm jobs.
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
    int ranks = 0;                          // ranks of the job on all nodes; 0: its command starts them
    Split cores;                            // empty: Slurm chooses them
    std::string noise_cores;                // if Slurm chooses: number of noise cores on each node
    std::vector<base::CpuSet> each_rank{};  // CPUs of each rank of a node; empty: ranks share the job's
};

class Launcher {
 public:
    virtual ~Launcher() = default;

    virtual int nodes() const { return 1; }

    // Prefix of a program's command line: "mpirun -n 2", "srun --overlap ..".
    virtual Words job(const Placement& placement) const = 0;
    virtual Words noise(const Placement& placement) const = 0;
    virtual Words evidence(const Placement& placement) const { return noise(placement); }

    // Does Slurm choose the cores, so that a placement has none?
    virtual bool chooses_cores() const { return false; }

    // Options by which crosstalk run uses this launcher. Throws UsageError if that is not possible.
    virtual Words options_of_run(const Placement&) const { return {}; }

    // Are the job's processes descendants of this process, so that signals reach them and the child's exit code is the
    // job's?
    virtual bool is_parent() const { return true; }

    // Asks the noise, the evidence, or the job, to end and to finish its records.
    virtual void end_noise(const base::Child& child) const;
    virtual void end_evidence(const base::Child& child) const;
    virtual void end_job(const base::Child& child) const;

    // Ends leftovers of a run whose driver's machine failed, since they would disturb the next run. Throws Error if
    // they do not end.
    virtual void end_leftovers() const {}

    // Writes the run's allocation (nodes, CPUs) to log files, for people.
    virtual void write_records(const std::filesystem::path& log) const;

    // Names of the nodes, such as "n1" and "n2"; empty for a single node.
    virtual Words node_names() const { return {}; }
};

// noise_launch: prefix of noisegen's command line that starts one noisegen on each node; empty: one on this node.
std::unique_ptr<Launcher> local_launcher(const std::string& noise_launch = {});

// Runs steps of the present Slurm job. Throws UsageError if that job has another number of nodes; 0 accepts any number.
std::unique_ptr<Launcher> step_launcher(int nodes, int gpus_per_node = 0);

// `name`: prefix of the jobs' names, which end in "-noise" and "-training". `site`: options for each srun.
std::unique_ptr<Launcher> two_jobs_launcher(int nodes, const std::string& name, const Words& site);

}  // namespace crosstalk
