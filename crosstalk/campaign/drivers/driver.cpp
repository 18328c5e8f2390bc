// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/drivers/driver.hpp"

#include "base/cli/progress.hpp"
#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/contract/run_record.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/system/available.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/progress.hpp"
#include "crosstalk/campaign/runs/one_run.hpp"
#include "crosstalk/campaign/runs/run_words.hpp"
#include "crosstalk/programs/leftovers.hpp"
#include "crosstalk/programs/programs.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iostream>
#include <set>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

void check_disk(const CampaignDirectory& campaign, const PlannedRun& run)
{
    const base::Bytes needed = expected(run, campaign.spec()).disk;
    const base::Bytes left = base::free_disk(campaign.path());
    if (left.count < needed.count)
        base::fail("the disk of ", campaign.path().string(), " is full: a run takes about ", needed.count / 1048576,
                   " MiB, and ", left.count / 1048576, " MiB are free; free some space and start again");
}

class Driver {
 public:
    Driver(const CampaignDirectory& campaign, const Launcher& launcher, const DriverOptions& options)
        : campaign_{campaign}, launcher_{launcher}, options_{options}, progress_{"campaign"}
    {
    }

    void drive()
    {
        std::set<int> blocks;
        for (const PlannedRun& run : campaign_.plan())
            if (!options_.block || run.block == *options_.block) blocks.insert(run.block);
        for (const int block : blocks) drive_block(block);
    }

 private:
    // Runs that do not count are repeated in their block, before the machine drifts away from the block's quiet runs.
    void drive_block(int block)
    {
        const CampaignLock lock{campaign_, block_lock(block)};
        for (const PlannedRun& run : campaign_.plan())
            if (run.block == block) clear_leftovers(campaign_.partial(run));
        while (true) {
            std::vector<PlannedRun> left = campaign_.pending(options_.retries);
            std::erase_if(left, [&](const PlannedRun& run) { return run.block != block; });
            if (left.empty()) return;
            for (const PlannedRun& run : left) attempt(run);
        }
    }

    void attempt(const PlannedRun& run)
    {
        look_up(run);
        check_disk(campaign_, run);
        const fs::path partial = campaign_.partial(run);
        clear_leftovers(partial);
        launcher_.end_leftovers();
        ::setenv(base::campaign::variable, partial.c_str(), 1);
        const std::int64_t begin_ns = base::now_ns();
        const std::string why = make_run({run, campaign_.spec(), launcher_, partial, [&] { look_up(run); }});
        end_leftovers(partial);
        if (!why.empty()) check_disk(campaign_, run);  // a full disk is not the run's failure
        const int attempt = campaign_.failures(run) + 1;
        write_status(run, why, attempt, base::now_ns() - begin_ns);
        if (why.empty()) {
            fs::rename(partial, campaign_.finished(run));
            return;
        }
        base::warn(run.name, " (", treatment_name(run), ") does not count: ", why);
        fs::create_directories(campaign_.path() / base::campaign::failed);
        fs::rename(partial, campaign_.failed(run, attempt));
    }

    void look_up(const PlannedRun& run)
    {
        base::end_if_stopped();
        if (campaign_.stop_requested()) throw Stopped{};
        if (!progress_.due()) return;
        const Standing standing = standing_of(campaign_, options_.retries);
        progress_.show(standing.fraction(), base::join(run.name, " ", treatment_name(run), ", ", standing.text()));
    }

    void write_status(const PlannedRun& run, const std::string& why, int attempt, std::int64_t took_ns) const
    {
        const fs::path partial = campaign_.partial(run);
        nlohmann::ordered_json status = status_of(partial).value_or(nlohmann::ordered_json::object());
        status["format"] = base::format_version;
        status["job"] = options_.job;
        status["nodes"] = launcher_.nodes();
        status["exit_code"] = why.empty() ? base::exit_fine : base::exit_promise_not_kept;
        status["reason"] = why.empty() ? "noise covered the training" : why;
        if (run.noise == base::campaign::no_noise && why.empty()) status["reason"] = "no noise ran during the training";
        status["covered"] = why.empty();
        status["campaign"] = campaign_.path().filename().string();
        status["run"] = run.name;
        status["block"] = run.block;
        status["position"] = run.position;
        status["model"] = run.model;
        status["strategy"] = run.strategy;
        status["noise"] = run.noise;
        status["level"] = run.level;
        status["cores"] = run.cores;
        status["options"] = run.options;
        status["seed"] = run.seed;
        status["attempt"] = attempt;
        status["seconds"] = static_cast<double>(took_ns) / 1e9;
        base::write_whole(partial / base::file::status, base::json_text(status, base::one_line) + "\n");
    }

    const CampaignDirectory& campaign_;
    const Launcher& launcher_;
    const DriverOptions& options_;
    base::Progress progress_;
};

}  // namespace

int drive(const CampaignDirectory& campaign, const Launcher& launcher, const DriverOptions& options)
{
    for (const PlannedRun& run : campaign.plan())
        placement_of(run, campaign.spec(), launcher);  // throws before anything is started
    {
        const EndsWhatWasStarted guard;
        try {
            Driver{campaign, launcher, options}.drive();
        } catch (const Stopped&) {
            base::warn("stopped; to continue: crosstalk campaign run ", campaign.path().string());
        }
    }
    return print_outcome(campaign, options);
}

int print_outcome(const CampaignDirectory& campaign, const DriverOptions& options)
{
    std::size_t all = 0;
    std::size_t done = 0;
    for (const PlannedRun& run : campaign.plan()) {
        if (options.block && run.block != *options.block) continue;
        ++all;
        if (campaign.is_done(run)) {
            ++done;
            continue;
        }
        const int failures = campaign.failures(run);
        if (failures == 0) continue;
        const auto status = status_of(campaign.failed(run, failures));
        std::cout << base::printable(base::join(run.name, "  ", treatment_name(run), " does not count, ", failures,
                                                " times: ", status ? status->value("reason", "") : "unknown"))
                  << "\n";
    }
    std::cout << done << " of " << all << " runs count\n";
    base::flush_stdout();
    return done == all ? base::exit_fine : base::exit_promise_not_kept;
}

}  // namespace crosstalk
