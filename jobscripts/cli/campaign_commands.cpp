#include "jobscripts/cli/campaign_commands.hpp"

#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "jobscripts/campaign/collect.hpp"
#include "jobscripts/campaign/directory.hpp"
#include "jobscripts/campaign/driver.hpp"
#include "jobscripts/campaign/one_run.hpp"
#include "jobscripts/campaign/plan.hpp"
#include "jobscripts/campaign/progress.hpp"
#include "jobscripts/campaign/spec.hpp"

#include <iostream>

namespace crosstalk {

namespace {

void show_commands(const Plan& plan, const Spec& spec, const Launcher& launcher, const std::filesystem::path& directory)
{
    for (const PlannedRun& run : plan)
        show_run(std::cout,
                 {run, spec, launcher, directory / base::campaign::runs / (run.name + base::campaign::partial), {}});
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
        options.example("crosstalk campaign plan seed-study.ini -o DIR");
        options.epilogue(
            "Each block holds every noise, level and number of cores once, and a run without noise, in random order. "
            "The plan depends on the spec and its seed only.");
    }

    int run() override
    {
        Spec spec = read_spec(spec_);
        std::string text = base::read_whole(spec_);
        if (options.given("seed")) {
            spec.seed = seed_;
            text = with_seed(text, seed_);
        }
        const Plan plan = make_plan(spec);
        if (dry_run_) {
            show_commands(plan, spec, *local_launcher(spec), out_.empty() ? "DIR" : out_);
            return base::exit_fine;
        }
        if (out_.empty()) base::fail_usage("--out is needed (crosstalk campaign plan --help)");
        CampaignDirectory::make(out_, text, plan);
        print_plan(std::cout, plan, spec);
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
    CampaignDirectory campaign() const { return CampaignDirectory{directory_}; }
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
        options.add_switch("dry-run", dry_run_, "print the exact commands of the runs that are left, and end");
        options.example("crosstalk campaign run DIR");
        options.epilogue(
            "Exit codes: 0 all runs count, 1 failed (a full disk), 2 wrong usage, or another driver runs it, 3 some runs "
            "do not count, or it was stopped. Whatever ended it: start it again, and it goes on.");
    }

    int run() override
    {
        const CampaignDirectory dir = campaign();
        const auto launcher = local_launcher(dir.spec());
        const DriverOptions wanted{.retries = retries, .block = {}, .job = "local"};
        if (dry_run_) {
            show_commands(dir.pending(retries), dir.spec(), *launcher, dir.path());
            return base::exit_fine;
        }
        const CampaignLock lock{dir, base::campaign::driver_lock};
        dir.withdraw_stop();
        base::stop_on_signals();
        return drive(dir, *launcher, wanted);
    }

 private:
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
        if (json_)
            print_standing_json(std::cout, campaign(), retries);
        else
            print_standing(std::cout, campaign(), retries);
        base::flush_stdout();
        return base::exit_fine;
    }

 private:
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
        const auto ended = [&] { return !CampaignLock::is_held(dir, base::campaign::driver_lock); };
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
        const CampaignDirectory dir = campaign();
        Collection collection = collect(dir);
        write_report(dir, collection);
        print_effects(std::cout, collection);
        std::cout << collection.runs.size() << " of " << dir.plan().size()
                  << " runs count\nreport: " << (dir.path() / base::part::report / "index.html").string() << "\n";
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
