// SPDX-License-Identifier: Apache-2.0
#include "base/contract/campaign_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "crosstalk/campaign/kinds/kind.hpp"
#include "crosstalk/cli/commands.hpp"

namespace crosstalk {

namespace {

class PlanCommand : public base::Command {
 public:
    PlanCommand() : Command{"crosstalk campaign plan", "plans many runs in randomised complete blocks"}
    {
        options.add_positional("SPEC.ini", spec_, "specification of the campaign");
        options.add("out,o", out_, "the campaign's directory; must not exist", "DIR");
        options.add("seed", seed_, "seed of all orders, instead of the spec's", "NUMBER");
        options.add_switch("dry-run", dry_run_, "print the exact commands of each run here, and exit");
        for (const CampaignKind* kind : campaign_kinds()) options.section(kind->keys());
        options.example("crosstalk campaign plan seed-study.ini -o DIR");
        options.epilogue(
            "Each block holds every noise, level and number of cores once, plus a run without noise, in random "
            "order. The plan depends only on the spec and its seed.");
    }

    int run() override
    {
        const CampaignKind& kind = kind_of_spec(spec_);
        PlanOptions plan{.spec = spec_, .seed = {}, .out = out_, .dry_run = dry_run_};
        if (options.given("seed")) plan.seed = seed_;
        if (!dry_run_ && out_.empty()) base::fail_usage("needs --out DIR (crosstalk campaign plan --help)");
        kind.plan(plan);
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    std::string spec_;
    std::string out_;
    std::uint64_t seed_ = 1;
    bool dry_run_ = false;
};

// Base of the commands that take a campaign's directory.
class OfCampaign : public base::Command {
 public:
    OfCampaign(const std::string& name, const std::string& summary) : Command{name, summary}
    {
        options.add_positional("DIR", directory_, "the campaign's directory");
    }

 protected:
    const std::string& directory() const { return directory_; }
    const CampaignKind& kind() const { return kind_of_directory(directory_); }
    void add_retries(int& retries)
    {
        options.add("retries", retries, "repetitions of a run that does not count", "NUMBER");
    }

 private:
    std::string directory_;
};

class RunCampaignCommand : public OfCampaign {
 public:
    RunCampaignCommand() : OfCampaign{"crosstalk campaign run", "makes the pending runs, until all count"}
    {
        add_retries(run_.retries);
        options.add_choice(
            "back-end", run_.back_end, {"local", "slurm", "step"},
            "local: on this machine; slurm: one Slurm job per block; step: as steps of the current Slurm job");
        options.add("jobs", run_.jobs, "blocks queued in Slurm at a time", "NUMBER");
        options.add(
            "site", site_,
            "file with #SBATCH lines (account, partition, gres) and shell lines (module load) for the jobs; kept "
            "for later calls",
            "FILE");
        options.add_switch("two-jobs", run_.two_jobs,
                           "with slurm: run training and noise as two jobs on the same node, as two users would");
        options.add("block", block_, "run only this block", "NUMBER");
        options.add_switch("dry-run", run_.dry_run, "print the exact commands of the pending runs, and exit");
        options.example("crosstalk campaign run DIR");
        options.example("crosstalk campaign run DIR --back-end slurm --site site.sh");
        options.epilogue(
            "Exit codes: 0 all runs count, 1 failed (a full disk), 2 wrong usage, or another driver runs it, 3 some "
            "runs do not count, or it was stopped. Start it again to continue.");
    }

    int run() override
    {
        base::refuse_foreign(directory());
        base::refuse_foreign(std::filesystem::path{directory()} / base::campaign::spec);
        for (const char* name : {"back-end", "jobs", "site", "two-jobs", "block", "dry-run", "retries"})
            if (options.given(name)) run_.given.emplace_back(name);
        run_.site = site_;
        if (options.given("block")) run_.block = block_;
        return kind().run(directory(), run_);
    }

 private:
    CampaignRunOptions run_;
    std::string site_;
    int block_ = 1;
};

class StatusCommand : public OfCampaign {
 public:
    StatusCommand() : OfCampaign{"crosstalk campaign status", "shows progress and remaining time"}
    {
        add_retries(retries_);
        options.add_switch("json", json_, "print it as JSON");
        options.example("crosstalk campaign status DIR");
    }

    int run() override
    {
        const std::optional<int> retries = options.given("retries") ? std::optional{retries_} : std::nullopt;
        const int code = kind().status(directory(), retries, json_);
        base::flush_stdout();
        return code;
    }

 private:
    int retries_ = 2;
    bool json_ = false;
};

class StopCommand : public OfCampaign {
 public:
    StopCommand() : OfCampaign{"crosstalk campaign stop", "stops it cleanly; crosstalk campaign run continues it"}
    {
        options.example("crosstalk campaign stop DIR");
    }

    int run() override { return kind().stop(directory()); }
};

class CollectCommand : public OfCampaign {
 public:
    CollectCommand()
        : OfCampaign{"crosstalk campaign collect",
                     "reports a table of runs, the effect of each noise, and excluded runs"}
    {
        options.example("crosstalk campaign collect DIR");
        options.epilogue("Writes DIR/report, replacing an earlier one.");
    }

    int run() override
    {
        const int code = kind().collect(directory());
        base::flush_stdout();
        return code;
    }
};

}  // namespace

base::Commands campaign_commands()
{
    return base::commands<PlanCommand, RunCampaignCommand, StatusCommand, StopCommand, CollectCommand>();
}

}  // namespace crosstalk
