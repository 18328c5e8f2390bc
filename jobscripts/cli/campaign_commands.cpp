#include "jobscripts/cli/campaign_commands.hpp"

#include "base/cli/option_checks.hpp"
#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/environment.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "jobscripts/campaign/collect.hpp"
#include "jobscripts/campaign/directory.hpp"
#include "jobscripts/campaign/driver.hpp"
#include "jobscripts/campaign/one_run.hpp"
#include "jobscripts/campaign/plan.hpp"
#include "jobscripts/campaign/progress.hpp"
#include "jobscripts/campaign/slurm.hpp"
#include "jobscripts/campaign/spec.hpp"
#include "jobscripts/campaign/trials/trial_names.hpp"
#include "jobscripts/campaign/trials/trial_plan.hpp"
#include "jobscripts/campaign/trials/trial_runs.hpp"
#include "jobscripts/programs/programs.hpp"

#include <iostream>

namespace crosstalk {

namespace {

void show_commands(const Plan& plan, const Spec& spec, const Launcher& launcher, const std::filesystem::path& directory)
{
    for (const PlannedRun& run : plan)
        base::print_lines(std::cout, [&](std::ostream& out) {
            show_run(
                out,
                {run, spec, launcher, directory / base::campaign::runs / (run.name + base::campaign::partial), {}});
        });
    base::flush_stdout();
}

class PlanCommand : public base::Command {
 public:
    PlanCommand() : Command{"crosstalk campaign plan", "many runs in randomised complete blocks, as a table"}
    {
        options.add_positional("SPEC.ini", spec_, "what the campaign is to find out");
        options.add("out,o", out_, "the campaign's directory; must not be there yet", "DIR");
        options.add("seed", seed_, "of all orders, instead of the spec's", "NUMBER");
        options.add_switch("dry-run", dry_run_, "print the exact commands of each run here, and end");
        options.section(spec_section());
        options.section(trial_spec_section());
        options.example("crosstalk campaign plan seed-study.ini -o DIR");
        options.epilogue(
            "Each block holds every noise, level and number of cores once, and a run without noise, in random order. "
            "The plan depends on the spec and its seed only.");
    }

    int run() override
    {
        if (is_trial_spec(spec_)) return plan_trials();
        Spec spec = read_spec(spec_);
        std::string text = base::read_whole(spec_);
        if (options.given("seed")) {
            spec.seed = seed_;
            text = with_seed(text, seed_);
        }
        const Plan plan = make_plan(spec);
        if (std::filesystem::exists(path_of_program("noisegen")))
            if (const std::string why = why_no_such_noise(plan, spec); !why.empty())
                base::warn("this noise will not run here: ", why);
        if (std::filesystem::exists(path_of_program("ddl-train")))
            if (const std::string why = unknown_name_in(spec); !why.empty())
                base::warn("this training will not run here: ", why);
        if (dry_run_) {
            show_commands(plan, spec, *local_launcher(spec), out_.empty() ? "DIR" : out_);
            return base::exit_fine;
        }
        if (out_.empty()) base::fail_usage("--out is needed (crosstalk campaign plan --help)");
        CampaignDirectory::make(out_, text, plan);
        base::print_lines(std::cout, [&](std::ostream& out) { print_plan(out, plan, spec); });
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    int plan_trials()
    {
        TrialSpec spec = read_trial_spec(spec_);
        std::string text = base::read_whole(spec_);
        if (options.given("seed")) {
            spec.seed = seed_;
            text = with_seed(text, seed_);
        }
        const std::vector<base::Trial> trials = make_trials(spec);
        if (std::filesystem::exists(path_of_program("ddl-train")))
            if (const std::string why = unknown_name_in(spec); !why.empty())
                base::warn("these trials will not run here: ", why);
        if (!dry_run_ && out_.empty()) base::fail_usage("--out is needed (crosstalk campaign plan --help)");
        if (!dry_run_) make_trial_directory(out_, text, trials);
        base::print_lines(std::cout, [&](std::ostream& out) { print_trials(out, spec, trials); });
        base::flush_stdout();
        return base::exit_fine;
    }

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
    CampaignDirectory campaign() const
    {
        if (has_trials())
            base::fail_usage(directory_,
                             " has trials of soft errors: to stop them, interrupt crosstalk campaign run (Ctrl-C)");
        return CampaignDirectory{directory_};
    }
    bool has_trials() const { return is_trial_directory(directory_); }
    const std::string& directory() const { return directory_; }
    void add_retries() { options.add("retries", retries, "how often a run that does not count is repeated", "NUMBER"); }

    int retries = 2;

 private:
    std::string directory_;
};

class RunCampaignCommand : public OfCampaign {
 public:
    RunCampaignCommand() : OfCampaign{"crosstalk campaign run", "makes the runs that are left, until all count"}
    {
        add_retries();
        options.add_choice("back-end", back_end_, {"local", "slurm", "step"},
                           "where: on this machine, as jobs of Slurm, a block each; or, in such a job, as its steps");
        options.add("jobs", jobs_, "blocks in Slurm's queue at a time", "NUMBER");
        options.add("site", site_,
                    "lines #SBATCH (account, partition, gres), and others that the job's shell reads (module load); it "
                    "is kept for the next time",
                    "FILE");
        options.add_switch("two-jobs", two_jobs_,
                           "with slurm: training and noise as two jobs on the same node, as of two users");
        options.add("block", block_, "only this one", "NUMBER");
        options.add_switch("dry-run", dry_run_, "print the exact commands of the runs that are left, and end");
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
        if (has_trials()) return of_trials();
        const CampaignDirectory dir = campaign();
        check(dir.plan());
        keep_site(dir);
        if (dry_run_) {
            show_commands(dir.pending(retries), dir.spec(), *launcher(dir), dir.path());
            return base::exit_fine;
        }
        base::stop_on_signals();
        if (back_end_ != "slurm")  // where the noise is to run
            if (const std::string why = why_no_such_noise(dir.pending(retries), dir.spec()); !why.empty())
                base::fail_usage("this noise does not run here: ", why);
        if (const std::string why = back_end_ == "slurm" ? "" : unknown_name_in(dir.spec()); !why.empty())
            base::fail_usage("this training does not run here: ", why);
        if (back_end_ == "step") {  // whoever submitted it drives, and may want it to stop
            if (!is_being_run(dir)) dir.withdraw_stop();
            return drive(dir, *launcher(dir), wanted());
        }
        const CampaignLock lock{dir, base::campaign::driver_lock};
        dir.withdraw_stop();
        if (back_end_ == "slurm" && !two_jobs_)
            return drive_by_jobs(dir, {.driver = wanted(), .jobs = jobs_, .site = site(dir)});
        return drive(dir, *launcher(dir), wanted());
    }

 private:
    int of_trials() const
    {
        for (const char* name : {"back-end", "jobs", "site", "two-jobs", "block", "dry-run", "retries"})
            if (options.given(name)) base::fail_usage("--", name, " is not for trials of soft errors");
        return run_trials(directory());
    }

    void check(const Plan& plan) const
    {
        if (options.given("block") && (block_ < 1 || block_ > plan.back().block))
            base::fail_usage("--block: there is none of that number; they are 1 to ", plan.back().block);
        base::check_at_least(0, retries, "--retries");
        base::check_at_least(1, jobs_, "--jobs");
        if (two_jobs_ && back_end_ != "slurm") base::fail_usage("--two-jobs is for --back-end slurm");
    }

    DriverOptions wanted() const
    {
        DriverOptions wanted{
            .retries = retries, .block = {}, .job = base::environment("SLURM_JOB_ID").value_or("local")};
        if (options.given("block")) wanted.block = block_;
        return wanted;
    }

    std::unique_ptr<Launcher> launcher(const CampaignDirectory& dir) const
    {
        if (two_jobs_) return two_jobs_launcher(dir.spec(), job_name(dir), site_words(site(dir)));
        if (back_end_ == "local") return local_launcher(dir.spec());
        const std::string job = base::environment("SLURM_JOB_ID").value_or("");
        if (back_end_ == "step" && job.empty())
            base::fail_usage("--back-end step is for a job of Slurm (campaign-block.sbatch)");
        return step_launcher(dir.spec(), job);
    }

    static std::filesystem::path site(const CampaignDirectory& dir)
    {
        const std::filesystem::path kept = dir.path() / base::campaign::site;
        return std::filesystem::exists(kept) ? kept : std::filesystem::path{};
    }

    void keep_site(const CampaignDirectory& dir) const
    {
        if (!site_.empty()) base::write_whole(dir.path() / base::campaign::site, base::read_whole(site_));
    }

    std::string back_end_ = "local";
    std::string site_;
    int jobs_ = 4;
    int block_ = 1;
    bool two_jobs_ = false;
    bool dry_run_ = false;
};

class StatusCommand : public OfCampaign {
 public:
    StatusCommand() : OfCampaign{"crosstalk campaign status", "how far it is, and how long it will take"}
    {
        add_retries();
        options.add_switch("json", json_, "print it as JSON");
        options.example("crosstalk campaign status DIR");
    }

    int run() override
    {
        if (has_trials())
            of_trials();
        else if (json_)
            print_standing_json(std::cout, campaign(), retries);
        else
            base::print_lines(std::cout, [&](std::ostream& out) { print_standing(out, campaign(), retries); });
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
    void of_trials() const
    {
        if (options.given("retries")) base::fail_usage("--retries is not for trials of soft errors");
        const TrialStanding standing = trial_standing(directory());
        json_ ? print_json(std::cout, standing) : print(std::cout, standing);
    }

    bool json_ = false;
};

class StopCommand : public OfCampaign {
 public:
    StopCommand() : OfCampaign{"crosstalk campaign stop", "ends it in good order; crosstalk campaign run goes on"}
    {
        options.example("crosstalk campaign stop DIR");
    }

    int run() override
    {
        constexpr std::int64_t patience_ns = 60'000'000'000;
        constexpr std::int64_t look_again_ns = 100'000'000;
        const CampaignDirectory dir = campaign();
        dir.request_stop();
        const auto ended = [&] { return !is_being_run(dir); };
        if (base::wait_until(ended, patience_ns, look_again_ns)) return base::exit_fine;
        base::fail("whoever runs it has not ended within a minute");
    }
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
        if (has_trials()) return collect_trials(directory());
        const CampaignDirectory dir = campaign();
        Collection collection = collect(dir);
        write_report(dir, collection);
        print_effects(std::cout, collection);
        std::cout << collection.runs.size() << " of " << dir.plan().size() << " runs count\nreport: "
                  << base::printable((dir.path() / base::part::report / "index.html").string()) << "\n";
        base::flush_stdout();
        return base::exit_fine;
    }
};

}  // namespace

base::Commands campaign_commands()
{
    return base::commands<PlanCommand, RunCampaignCommand, StatusCommand, StopCommand, CollectCommand>();
}

}  // namespace crosstalk
