// SPDX-License-Identifier: Apache-2.0
// Campaigns of trainings with and without noise: steady and designed runs in randomised complete blocks.
#include "base/cli/option_checks.hpp"
#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/system/environment.hpp"
#include "base/system/stop.hpp"
#include "base/system/waiting.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/collect.hpp"
#include "crosstalk/campaign/directory.hpp"
#include "crosstalk/campaign/drivers/driver.hpp"
#include "crosstalk/campaign/drivers/slurm_jobs.hpp"
#include "crosstalk/campaign/kinds/kind.hpp"
#include "crosstalk/campaign/progress.hpp"
#include "crosstalk/campaign/runs/one_run.hpp"
#include "crosstalk/campaign/runs/run_words.hpp"
#include "crosstalk/campaign/trials/trial_names.hpp"
#include "crosstalk/launchers/slurm.hpp"

#include <algorithm>
#include <iostream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

void show_commands(const Plan& plan, const Spec& spec, const Launcher& launcher, const fs::path& directory)
{
    for (const PlannedRun& run : plan)
        base::print_lines(std::cout, [&](std::ostream& out) {
            show_run(
                out,
                {run, spec, launcher, directory / base::campaign::runs / (run.name + base::campaign::partial), {}});
        });
    base::flush_stdout();
}

// Refuses stressors that exist nowhere. A machine may still lack what a stressor needs: that is no error of a plan.
void check_names(const Spec& spec, const fs::path& file)
try {
    check_stressors(spec);
} catch (const base::UsageError& error) {
    base::fail_usage(file.string(), ": ", error.what());
}

void plan_runs(const PlanOptions& options)
{
    Spec spec = read_spec(options.spec);
    spec.seed = options.seed.value_or(spec.seed);
    const Plan plan = make_plan(spec);
    if (fs::exists(path_of_program("noisegen"))) {
        check_names(spec, options.spec);
        if (const std::string why = why_no_such_noise(plan, spec); !why.empty())
            base::warn("this noise cannot run here: ", why);
    }
    if (fs::exists(path_of_program("ddl-train")))
        if (const std::string why = unknown_name_in(spec); !why.empty())
            base::warn("this training cannot run here: ", why);
    if (options.dry_run) return show_commands(plan, spec, *local_launcher(), options.out.empty() ? "DIR" : options.out);
    CampaignDirectory::make(options.out, text_of_spec(options), plan);
    base::print_lines(std::cout, [&](std::ostream& out) { print_plan(out, plan, spec); });
}

void check(const CampaignRunOptions& options, const Plan& plan)
{
    if (options.block && (*options.block < 1 || *options.block > plan.back().block))
        base::fail_usage("--block: blocks are 1 to ", plan.back().block);
    base::check_at_least(0, options.retries, "--retries");
    base::check_at_least(1, options.jobs, "--jobs");
    if (options.two_jobs && options.back_end != "slurm") base::fail_usage("--two-jobs needs --back-end slurm");
}

fs::path site_of(const CampaignDirectory& campaign)
{
    const fs::path kept = campaign.path() / base::campaign::site;
    return fs::exists(kept) ? kept : fs::path{};
}

std::unique_ptr<Launcher> launcher_for(const CampaignDirectory& campaign, const CampaignRunOptions& options)
{
    const int nodes = campaign.spec().nodes;
    if (options.two_jobs) return two_jobs_launcher(nodes, job_name(campaign), site_words(site_of(campaign)));
    if (options.back_end == "local") return local_launcher();
    if (options.back_end == "step") need_job_of_slurm("campaign-block.sbatch");
    return step_launcher(nodes);
}

int run_runs(const fs::path& directory, const CampaignRunOptions& options)
{
    const CampaignDirectory campaign{directory};
    check(options, campaign.plan());
    if (!options.site.empty())
        base::write_whole(campaign.path() / base::campaign::site, base::read_whole(options.site));
    const Plan left = campaign.pending(options.retries);
    const bool in_jobs = options.back_end == "slurm" && !options.two_jobs;  // each job runs one block, with Slurm steps
    const std::unique_ptr<Launcher> launcher = launcher_for(campaign, options);
    if (options.dry_run) {
        show_commands(left, campaign.spec(), *launcher, campaign.path());
        return base::exit_fine;
    }
    base::stop_on_signals();
    if (options.back_end != "slurm") {  // this process runs on the noise's machine
        if (const std::string why = why_no_such_noise(left, campaign.spec()); !why.empty())
            base::fail_usage("this noise cannot run here: ", why);
        if (const std::string why = unknown_name_in(campaign.spec()); !why.empty())
            base::fail_usage("this training cannot run here: ", why);
    }
    const DriverOptions driver{
        .retries = options.retries, .block = options.block, .job = base::environment("SLURM_JOB_ID").value_or("local")};
    if (options.back_end == "step") {  // the submitting process drives the campaign, and may request a stop
        if (!is_being_run(campaign)) campaign.withdraw_stop();
        return drive(campaign, *launcher, driver);
    }
    const CampaignLock lock{campaign, base::campaign::driver_lock};
    campaign.withdraw_stop();
    if (in_jobs) return drive_by_jobs(campaign, {.driver = driver, .jobs = options.jobs, .site = site_of(campaign)});
    return drive(campaign, *launcher, driver);
}

int show_status(const fs::path& directory, std::optional<int> given, bool as_json)
{
    const int retries = given.value_or(CampaignRunOptions{}.retries);
    const CampaignDirectory campaign{directory};
    if (as_json)
        print_standing_json(std::cout, campaign, retries);
    else
        base::print_lines(std::cout, [&](std::ostream& out) { print_standing(out, campaign, retries); });
    return base::exit_fine;
}

int stop_runs(const fs::path& directory)
{
    constexpr std::int64_t patience_ns = 60'000'000'000;
    constexpr std::int64_t look_again_ns = 100'000'000;
    const CampaignDirectory campaign{directory};
    campaign.request_stop();
    const auto ended = [&] { return !is_being_run(campaign); };
    if (base::wait_until(ended, patience_ns, look_again_ns)) return base::exit_fine;
    base::fail("the driver did not stop within a minute");
}

int collect_runs(const fs::path& directory)
{
    const CampaignDirectory campaign{directory};
    Collection collection = collect(campaign);
    write_report(campaign, collection);
    print_effects(std::cout, collection);
    std::cout << collection.runs.size() << " of " << campaign.plan().size() << " runs count\nreport: "
              << base::printable((campaign.path() / base::part::report / "index.html").string()) << "\n";
    return base::exit_fine;
}

}  // namespace

extern const CampaignKind noise_campaign{.name = "noise",
                                         .keys = spec_section,
                                         .plan = plan_runs,
                                         .run = run_runs,
                                         .status = show_status,
                                         .stop = stop_runs,
                                         .collect = collect_runs};

}  // namespace crosstalk
