// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "base/words.hpp"
#include "crosstalk/launchers/launcher.hpp"
#include "crosstalk/launchers/slurm.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include <unistd.h>

namespace crosstalk {

namespace {

// For these variables an inner srun would use the job's value instead of its own options, with only a warning.
constexpr std::array inherited{
    "SLURM_NTASKS",   "SLURM_NPROCS",        "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",   "SLURM_CPUS_PER_TASK",
    "SLURM_CPU_BIND", "SLURM_CPU_BIND_LIST", "SLURM_CPU_BIND_TYPE",   "SLURM_CPU_BIND_VERBOSE", "SLURM_DISTRIBUTION"};

// Hexadecimal mask of CPUs: {0, 5} is 0x21.
std::string mask_of(const base::CpuSet& cpus)
{
    std::string mask;
    for (int digit = cpus.empty() ? 0 : *cpus.rbegin() / 4; digit >= 0; --digit) {
        unsigned value = 0;
        for (int bit = 0; bit < 4; ++bit)
            if (cpus.contains(4 * digit + bit)) value |= 1U << static_cast<unsigned>(bit);
        mask += "0123456789abcdef"[value];
    }
    return "0x" + mask;
}

// The number that squeue shows for this job: ARRAY_TASK for a task of a job array. With the plain number of an array's
// task, squeue would show the steps of all tasks: 7_1.0, 7_2.0.
std::string shown_by_squeue(const std::string& job)
{
    const auto array = base::environment("SLURM_ARRAY_JOB_ID");
    const auto task = base::environment("SLURM_ARRAY_TASK_ID");
    return array && task ? base::join(*array, "_", *task) : job;
}

// Slurm's settings in the environment, without secrets such as SLURM_JWT.
std::string settings_of_slurm()
{
    std::vector<std::string> lines;
    for (char** one = environ; *one != nullptr; ++one) {
        const std::string line{*one};
        const std::string name = base::lower_case(line.substr(0, line.find('=')));
        const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
        if (!name.starts_with("slurm") || has("jwt") || has("token") || has("key") || has("secret") || has("passw"))
            continue;
        lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return base::join_words(lines, "\n") + "\n";
}

// Number of nodes of the present job; without a job the requested number.
int nodes_of_job(int asked)
{
    const std::optional<std::string> text = base::environment("SLURM_JOB_NUM_NODES");
    if (!text) return std::max(asked, 1);
    const std::optional<int> number = base::environment_number("SLURM_JOB_NUM_NODES");
    if (!number || *number < 1) base::fail_usage("SLURM_JOB_NUM_NODES: '", *text, "' is not a number of nodes");
    return *number;
}

// Starts job and noise as two overlapping steps of the present Slurm job.
class StepLauncher : public Launcher {
 public:
    StepLauncher(int nodes, int gpus_per_node)
        : nodes_{nodes},
          gpus_per_node_{gpus_per_node},
          job_{base::environment("SLURM_JOB_ID").value_or("")},
          mpi_{base::environment("CROSSTALK_MPI").value_or("pmix")}
    {
        const int given = nodes_of_job(nodes);
        if (nodes_ == 0) nodes_ = given;
        if (given != nodes_)
            base::fail_usage("the job has ", given, " nodes, but a run needs ", nodes_, ": sbatch --nodes=", nodes_);
        for (const char* name : inherited) ::unsetenv(name);
        if (gpus_per_node_ > 0) ::setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);  // same order as nvidia-smi
    }

    int nodes() const override { return nodes_; }
    bool is_parent() const override { return false; }

    Words options_of_run(const Placement& placement) const override
    {
        const int ranks = std::max(placement.ranks / nodes_, 1);
        return {"--back-end", "step", "--ranks-per-node", std::to_string(ranks)};
    }

    // Without --overlap the second step would wait, without a message, until the first has ended. Without --cpu-bind
    // both would get all CPUs.
    Words job(const Placement& placement) const override
    {
        std::vector<std::string> masks;
        for (const base::CpuSet& cpus : placement.each_rank) masks.push_back(mask_of(cpus));
        if (masks.empty()) masks.push_back(mask_of(placement.cores.job));
        return step("training", placement.ranks == 0 ? 1 : placement.ranks, base::join_words(masks, ","));
    }
    Words noise(const Placement& placement) const override
    {
        return step("noise", nodes_, mask_of(placement.cores.noise));
    }
    Words evidence(const Placement& placement) const override
    {
        return step("evidence", nodes_, mask_of(placement.cores.noise));
    }

    void end_noise(const base::Child&) const override { end_step("noise"); }
    void end_evidence(const base::Child&) const override { end_step("evidence"); }
    void end_job(const base::Child&) const override { end_step("training"); }

    void write_records(const std::filesystem::path& log) const override
    {
        base::write_whole(log / "job.txt", said_by({"scontrol", "--details", "show", "job", job_}).value_or(""));
        base::write_whole(log / "environment.txt", settings_of_slurm(), base::for_this_user);
    }

    Words node_names() const override
    {
        Words names;
        std::istringstream lines{
            said_by({"scontrol", "show", "hostnames", base::environment("SLURM_JOB_NODELIST").value_or("")})
                .value_or("")};
        for (std::string name; lines >> name;) names.push_back(name);
        return names;
    }

 private:
    Words step(const std::string& name, int tasks, const std::string& masks) const
    {
        Words words{"srun",
                    "--job-name=" + name,
                    "--overlap",
                    base::join("--nodes=", nodes_),
                    base::join("--ntasks=", tasks),
                    base::join("--ntasks-per-node=", tasks / nodes_),
                    "--cpu-bind=verbose,mask_cpu:" + masks,
                    "--mpi=" + mpi_};
        if (gpus_per_node_ > 0) words.push_back(base::join("--gpus-per-node=", gpus_per_node_));
        return words;
    }

    // scancel without a signal, and any signal to the step's srun, would kill the step immediately, without a trace. If
    // the controller does not answer, the call is repeated.
    void end_step(const std::string& name) const
    {
        constexpr int times = 20;
        constexpr std::int64_t look_again_ns = 500'000'000;
        for (int time = 0; time < times; ++time) {
            const std::optional<Words> ids = steps_named(name);
            bool all_asked = ids.has_value();
            if (ids)
                for (const std::string& id : *ids) all_asked &= said_by({"scancel", "--signal=TERM", id}).has_value();
            if (all_asked) return;
            base::sleep_until_ns(base::now_ns() + look_again_ns);
        }
    }

    // Ids of the running steps with this name; none if the controller does not answer. A controller that was restarted
    // may also list steps of earlier runs that were killed while it was down.
    std::optional<Words> steps_named(const std::string& name) const
    {
        const auto said = said_by({"squeue", "--steps", "--noheader", "--jobs=" + job_, "--format=%i %j"});
        if (!said) return {};
        std::istringstream lines{*said};
        Words ids;
        std::string id;
        std::string found;
        const std::string of_this_job = shown_by_squeue(job_) + ".";
        while (lines >> id >> found)
            if (found == name && id.starts_with(of_this_job)) ids.push_back(id);
        return ids;
    }

    int nodes_;
    int gpus_per_node_;
    std::string job_;
    std::string mpi_;
};

}  // namespace

std::unique_ptr<Launcher> step_launcher(int nodes, int gpus_per_node)
{
    return std::make_unique<StepLauncher>(nodes, gpus_per_node);
}

}  // namespace crosstalk
