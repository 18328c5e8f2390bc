// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "crosstalk/launchers/launcher.hpp"
#include "crosstalk/launchers/slurm.hpp"

#include <array>

namespace crosstalk {

namespace {

// Starts job and noise as two Slurm jobs on the same nodes, each on cores that Slurm assigns.
class TwoJobsLauncher : public Launcher {
 public:
    TwoJobsLauncher(int nodes, const std::string& name, Words site) : nodes_{nodes}, name_{name}, site_{std::move(site)}
    {
    }

    int nodes() const override { return nodes_; }
    bool chooses_cores() const override { return true; }
    bool is_parent() const override { return false; }

    Words options_of_run(const Placement&) const override
    {
        base::fail_usage("two jobs: not for designed runs (use sbatch co-schedule.sbatch)");
    }

    Words job(const Placement& placement) const override
    {
        Words words = one_job("training", placement.ranks == 0 ? 1 : placement.ranks, "1");
        if (placement.noise_cores != "0") words.push_back("--nodelist=" + nodes_of_noise());
        return words;
    }
    Words noise(const Placement& placement) const override { return one_job("noise", nodes_, placement.noise_cores); }

    void end_noise(const base::Child&) const override { ask_to_end("noise"); }
    void end_job(const base::Child&) const override { ask_to_end("training"); }

    void end_leftovers() const override
    {
        constexpr std::int64_t patience_ns = 60'000'000'000;
        constexpr std::int64_t look_again_ns = 200'000'000;
        const std::array names{name_ + "-noise", name_ + "-training"};
        const auto gone = [&] {
            const auto said = said_by({"squeue", "--noheader", "--name=" + names[0] + "," + names[1], "--format=%i"});
            return said && base::trim(*said).empty();
        };
        if (gone()) return;
        for (const std::string& name : names) said_by({"scancel", "--name=" + name});
        if (!base::wait_until(gone, patience_ns, look_again_ns))
            base::fail("jobs of an earlier run are still queued: squeue --name=", names[0], ",", names[1]);
    }

 private:
    Words one_job(const std::string& what, int tasks, const std::string& cpus) const
    {
        Words words{"srun", "--job-name=" + name_ + "-" + what};
        words.insert(words.end(), site_.begin(), site_.end());
        words.insert(words.end(), {base::join("--nodes=", nodes_), base::join("--ntasks=", tasks),
                                   base::join("--ntasks-per-node=", tasks / nodes_), "--cpus-per-task=" + cpus,
                                   "--cpu-bind=cores", "--mpi=pmix"});
        return words;
    }

    std::string nodes_of_noise() const
    {
        const auto said = said_by({"squeue", "--noheader", "--name=" + name_ + "-noise", "--format=%N"});
        const std::string nodes{base::trim(said.value_or(""))};
        return nodes.empty() ? "NODES_OF_THE_NOISE" : nodes;  // dry run, or job gone: srun will refuse it
    }

    void ask_to_end(const std::string& what) const
    {
        said_by({"scancel", "--signal=TERM", "--name=" + name_ + "-" + what});
    }

    int nodes_;
    std::string name_;
    Words site_;
};

}  // namespace

std::unique_ptr<Launcher> two_jobs_launcher(int nodes, const std::string& name, const Words& site)
{
    return std::make_unique<TwoJobsLauncher>(nodes, name, site);
}

}  // namespace crosstalk
