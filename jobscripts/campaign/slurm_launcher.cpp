#include "base/error.hpp"
#include "base/system/clock.hpp"
#include "base/system/environment.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "jobscripts/campaign/launcher.hpp"
#include "jobscripts/campaign/slurm.hpp"
#include "jobscripts/programs/programs.hpp"

#include <array>
#include <cstdlib>
#include <sstream>

namespace crosstalk {

namespace {

// Of these an inner srun would believe the job's value instead of its own options, with nothing but a warning.
constexpr std::array inherited{
    "SLURM_NTASKS",   "SLURM_NPROCS",        "SLURM_NTASKS_PER_NODE", "SLURM_TASKS_PER_NODE",   "SLURM_CPUS_PER_TASK",
    "SLURM_CPU_BIND", "SLURM_CPU_BIND_LIST", "SLURM_CPU_BIND_TYPE",   "SLURM_CPU_BIND_VERBOSE", "SLURM_DISTRIBUTION"};

// {0, 5} is 0x21.
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

// How squeue calls this job. Of one task of a job array, whose number the whole array has, it shows the steps of all:
// 7_1.0, 7_2.0.
std::string shown_by_squeue(const std::string& job)
{
    const auto array = base::environment("SLURM_ARRAY_JOB_ID");
    const auto task = base::environment("SLURM_ARRAY_TASK_ID");
    return array && task ? base::join(*array, "_", *task) : job;
}

// Two overlapping steps of the job that this process is in.
class StepLauncher : public Launcher {
 public:
    StepLauncher(const Spec& spec, const std::string& job)
        : spec_{spec}, job_{job}, mpi_{base::environment("CROSSTALK_MPI").value_or("pmix")}
    {
        const int given = base::environment_number("SLURM_JOB_NUM_NODES").value_or(spec.nodes);
        if (given != spec.nodes)
            base::fail_usage("the job has ", given, " nodes, and each run is to have ", spec.nodes,
                             ": sbatch --nodes=", spec.nodes);
        for (const char* name : inherited) ::unsetenv(name);
    }

    int nodes() const override { return spec_.nodes; }

    Split cores_for(const PlannedRun& run) const override { return cores_of_node(run, spec_); }

    // Without --overlap the second step would wait, silently, until the first is over; without --cpu-bind both would
    // get all CPUs.
    Words training(const PlannedRun& run) const override
    {
        return step("training", run.ranks == 0 ? 1 : run.ranks, cores_for(run).job);
    }
    Words noise(const PlannedRun& run) const override { return step("noise", nodes(), cores_for(run).noise); }

    void end_noise(const PlannedRun&, const base::Child&) const override { end_step("noise"); }
    void end_training(const PlannedRun&, const base::Child&) const override { end_step("training"); }

    Words designed(const PlannedRun& run, const std::filesystem::path& out) const override
    {
        if (run.ranks == 0) base::fail_usage("designed runs of a command are for --back-end local");
        const Split cores = cores_for(run);
        return {"env",
                "-u",
                "SLURM_ARRAY_TASK_ID",
                "CROSSTALK_ARRAY_TASK=" + base::environment("SLURM_ARRAY_TASK_ID").value_or(""),
                "CROSSTALK_OUT=" + out.string(),
                "CROSSTALK_BIN=" + path_of_program("").parent_path().string(),
                "CROSSTALK_TRAIN_CPUS=" + base::format_cpus(cores.job),
                "CROSSTALK_NOISE_CPUS=" + base::format_cpus(cores.noise),
                base::join("CROSSTALK_RANKS_PER_NODE=", run.ranks / nodes()),
                "CROSSTALK_MODEL=" + run.model,
                "CROSSTALK_DATA=" + run.data,
                "CROSSTALK_DURATION=" + base::format(spec_.duration),
                "CROSSTALK_SCHEDULE=" + run.schedule,
                base::join("CROSSTALK_SEED=", run.seed),
                base::join("CROSSTALK_TRAINING_OPTIONS=--strategy ", run.strategy, " --progress yield ", spec_.options),
                "bash",
                script("co-schedule.sbatch").string()};
    }

 private:
    Words step(const std::string& name, int tasks, const base::CpuSet& cpus) const
    {
        return {"srun",
                "--job-name=" + name,
                "--overlap",
                base::join("--nodes=", nodes()),
                base::join("--ntasks=", tasks),
                base::join("--ntasks-per-node=", tasks / nodes()),
                "--cpu-bind=verbose,mask_cpu:" + mask_of(cpus),
                "--mpi=" + mpi_};
    }

    // scancel without a signal, and any signal to its srun, would kill it at once: no trace. A controller that does not
    // answer is asked again.
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

    // The ids of those that have not ended; none if the controller does not answer. One that was restarted may also
    // believe in steps of earlier runs that were killed while it was away.
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

    const Spec& spec_;
    std::string job_;
    std::string mpi_;
};

// Two jobs on the same nodes, each with the cores that Slurm gives it.
class TwoJobsLauncher : public Launcher {
 public:
    TwoJobsLauncher(const Spec& spec, const std::string& campaign, Words site)
        : spec_{spec}, campaign_{campaign}, site_{std::move(site)}
    {
    }

    int nodes() const override { return spec_.nodes; }

    Split cores_for(const PlannedRun& run) const override
    {
        if (run.ranks == 0)
            base::fail_usage(
                "two jobs: the steps of a command would be timed on this node, not on its own: give models");
        if (run.cores == "all")
            base::fail_usage("two jobs: cores must be a number, as Slurm is to give noise a job of that size");
        return {};
    }

    Words training(const PlannedRun& run) const override
    {
        Words words = job("training", run.ranks == 0 ? 1 : run.ranks, "1");
        if (run.cores != "0") words.push_back("--nodelist=" + nodes_of_noise());
        return words;
    }
    Words noise(const PlannedRun& run) const override { return job("noise", nodes(), run.cores); }

    void end_noise(const PlannedRun&, const base::Child&) const override { end_job("noise"); }
    void end_training(const PlannedRun&, const base::Child&) const override { end_job("training"); }

    void end_leftovers() const override
    {
        constexpr std::int64_t patience_ns = 60'000'000'000;
        constexpr std::int64_t look_again_ns = 200'000'000;
        const std::array names{campaign_ + "-noise", campaign_ + "-training"};
        const auto gone = [&] {
            const auto said = said_by({"squeue", "--noheader", "--name=" + names[0] + "," + names[1], "--format=%i"});
            return said && base::trim(*said).empty();
        };
        if (gone()) return;
        for (const std::string& name : names) said_by({"scancel", "--name=" + name});
        if (!base::wait_until(gone, patience_ns, look_again_ns))
            base::fail("jobs of an earlier run do not end: squeue --name=", names[0], ",", names[1]);
    }

    Words designed(const PlannedRun&, const std::filesystem::path&) const override
    {
        base::fail_usage("two jobs: a designed run is one job (sbatch co-schedule.sbatch)");
    }

 private:
    Words job(const std::string& what, int tasks, const std::string& cpus) const
    {
        Words words{"srun", "--job-name=" + campaign_ + "-" + what};
        words.insert(words.end(), site_.begin(), site_.end());
        words.insert(words.end(), {base::join("--nodes=", nodes()), base::join("--ntasks=", tasks),
                                   base::join("--ntasks-per-node=", tasks / nodes()), "--cpus-per-task=" + cpus,
                                   "--cpu-bind=cores", "--mpi=pmix"});
        return words;
    }

    std::string nodes_of_noise() const
    {
        const auto said = said_by({"squeue", "--noheader", "--name=" + campaign_ + "-noise", "--format=%N"});
        const std::string nodes{base::trim(said.value_or(""))};
        return nodes.empty() ? "NODES_OF_THE_NOISE" : nodes;  // of a dry run, or gone: then srun refuses it
    }

    void end_job(const std::string& what) const
    {
        said_by({"scancel", "--signal=TERM", "--name=" + campaign_ + "-" + what});
    }

    const Spec& spec_;
    std::string campaign_;
    Words site_;
};

}  // namespace

std::unique_ptr<Launcher> step_launcher(const Spec& spec, const std::string& job)
{
    return std::make_unique<StepLauncher>(spec, job);
}

std::unique_ptr<Launcher> two_jobs_launcher(const Spec& spec, const std::string& campaign, const Words& site)
{
    return std::make_unique<TwoJobsLauncher>(spec, campaign, site);
}

}  // namespace crosstalk
