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
    PlanCommand() : Command{"crosstalk campaign plan", "many runs in randomised complete blocks, as a table"}
    {
        options.add_positional("SPEC.ini", spec_, "what the campaign is to find out");
        options.add("out,o", out_, "the campaign's directory; must not be there yet", "DIR");
        options.add("seed", seed_, "of all orders, instead of the spec's", "NUMBER");
        options.add_switch("dry-run", dry_run_, "print the exact commands of each run here, and end");
        for (const CampaignKind* kind : campaign_kinds()) options.section(kind->keys());
        options.example("crosstalk campaign plan seed-study.ini -o DIR");
        options.epilogue(
            "Each block holds every noise, level and number of cores once, and a run without noise, in random order. "
            "The plan depends on the spec and its seed only.");
    }

    int run() override
    {
        const CampaignKind& kind = kind_of_spec(spec_);
        PlanOptions plan{.spec = spec_, .seed = {}, .out = out_, .dry_run = dry_run_};
        if (options.given("seed")) plan.seed = seed_;
        if (!dry_run_ && out_.empty()) base::fail_usage("--out is needed (crosstalk campaign plan --help)");
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

// Those that have one DIR.
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
        options.add("retries", retries, "how often a run that does not count is repeated", "NUMBER");
    }

 private:
    std::string directory_;
};

class RunCampaignCommand : public OfCampaign {
 public:
    RunCampaignCommand() : OfCampaign{"crosstalk campaign run", "makes the runs that are left, until all count"}
    {
        add_retries(run_.retries);
        options.add_choice("back-end", run_.back_end, {"local", "slurm", "step"},
                           "where: on this machine, as jobs of Slurm, a block each; or, in such a job, as its steps");
        options.add("jobs", run_.jobs, "blocks in Slurm's queue at a time", "NUMBER");
        options.add("site", site_,
                    "lines #SBATCH (account, partition, gres), and others that the job's shell reads (module load); it "
                    "is kept for the next time",
                    "FILE");
        options.add_switch("two-jobs", run_.two_jobs,
                           "with slurm: training and noise as two jobs on the same node, as of two users");
        options.add("block", block_, "only this one", "NUMBER");
        options.add_switch("dry-run", run_.dry_run, "print the exact commands of the runs that are left, and end");
        options.example("crosstalk campaign run DIR");
        options.example("crosstalk campaign run DIR --back-end slurm --site site.sh");
        options.epilogue(
            "Exit codes: 0 all runs count, 1 failed (a full disk), 2 wrong usage, or another driver runs it, 3 some runs "
            "do not count, or it was stopped. Whatever ended it: start it again, and it goes on.");
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
    StatusCommand() : OfCampaign{"crosstalk campaign status", "how far it is, and how long it will take"}
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
    StopCommand() : OfCampaign{"crosstalk campaign stop", "ends it in good order; crosstalk campaign run goes on"}
    {
        options.example("crosstalk campaign stop DIR");
    }

    int run() override { return kind().stop(directory()); }
};

class CollectCommand : public OfCampaign {
 public:
    CollectCommand()
        : OfCampaign{"crosstalk campaign collect", "one table, effects of each noise, and what was left out"}
    {
        options.example("crosstalk campaign collect DIR");
        options.epilogue("Writes DIR/report, in the place of an earlier one.");
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
