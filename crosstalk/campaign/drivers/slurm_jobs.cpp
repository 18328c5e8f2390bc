// SPDX-License-Identifier: Apache-2.0
#include "crosstalk/campaign/drivers/slurm_jobs.hpp"

#include "base/cli/progress.hpp"
#include "base/contract/campaign_directory.hpp"
#include "base/contract/run_directory.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/system/clock.hpp"
#include "base/system/stop.hpp"
#include "base/words.hpp"
#include "crosstalk/campaign/progress.hpp"
#include "crosstalk/campaign/runs/one_run.hpp"
#include "crosstalk/launchers/slurm.hpp"
#include "crosstalk/programs/programs.hpp"

#include <boost/program_options/parsers.hpp>

#include <array>
#include <cstdio>
#include <map>
#include <span>
#include <sstream>

namespace crosstalk {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t look_at_queue_ns = 1'000'000'000;

// Maximum number of jobs of a block that may end without progress.
constexpr int most_jobs_without_progress = 3;

class JobDriver {
 public:
    JobDriver(const CampaignDirectory& campaign, const SlurmOptions& options)
        : campaign_{campaign}, options_{options}, name_{job_name(campaign)}, progress_{"campaign"}
    {
    }

    void drive()
    {
        fs::create_directories(campaign_.path() / base::campaign::log);
        while (true) {
            look_up();
            // Asks for the queue first: a block that a job finishes afterwards may be submitted again, but never runs
            // twice at a time.
            const std::optional<std::set<int>> queued = blocks_in_queue();
            std::map<int, std::size_t> left;
            for (const PlannedRun& run : campaign_.pending(options_.driver.retries)) ++left[run.block];
            if (queued && left.empty() && queued->empty()) return;
            if (queued) submit(left, *queued);
            base::sleep_until_ns(base::now_ns() + look_at_queue_ns);
        }
    }

    // Jobs end in good order: their driver sees the stop file and gets SIGTERM.
    void cancel() const { said_by({"scancel", "--name=" + name_, "--full", "--signal=TERM"}); }

    void cancel_pending() const { said_by({"scancel", "--name=" + name_, "--state=PENDING"}); }

 private:
    // Returns none while the controller does not answer.
    std::optional<std::set<int>> blocks_in_queue() const
    {
        const auto said = said_by({"squeue", "--noheader", "--array", "--name=" + name_, "--format=%K %A %r"});
        if (!said) return {};
        std::set<int> blocks;
        std::istringstream lines{*said};
        int block = 0;
        std::string job;
        for (std::string reason; lines >> block >> job && std::getline(lines, reason);) {
            blocks.insert(block);
            // This reason occurs if the controller was lost during a job's start. Jobs held by a person are left alone.
            if (reason.find("launch failed requeued held") != std::string::npos) said_by({"scontrol", "release", job});
        }
        return blocks;
    }

    void submit(const std::map<int, std::size_t>& left, const std::set<int>& queued)
    {
        Words blocks;
        for (const auto& [block, runs] : left) {
            if (queued.contains(block)) continue;
            Tries& tries = tries_[block];
            tries.without_progress = tries.left == runs ? tries.without_progress + 1 : 0;
            tries.left = runs;
            if (tries.without_progress >= most_jobs_without_progress)
                base::fail("jobs of block ", block, " end before making its runs: see ", log_of(std::to_string(block)));
            blocks.push_back(std::to_string(block));
        }
        if (blocks.empty()) return;
        Words words{"sbatch",
                    "--parsable",
                    "--job-name=" + name_,
                    "--output=" + log_of("%a"),
                    "--open-mode=append",
                    base::join("--nodes=", campaign_.spec().nodes),
                    base::join("--array=", base::join_words(blocks, ","), "%", options_.jobs)};
        const Words site = site_words(options_.site);
        words.insert(words.end(), site.begin(), site.end());
        if (!options_.site.empty()) words.push_back("--export=ALL,CROSSTALK_SITE=" + options_.site.string());
        words.insert(words.end(), {script("campaign-block.sbatch").string(), campaign_.path().string(),
                                   std::to_string(options_.driver.retries)});
        if (!said_by(words)) base::warn("sbatch failed; retrying");
    }

    std::string log_of(const std::string& block) const
    {
        return (campaign_.path() / base::campaign::log / ("block-" + block + ".log")).string();
    }

    void look_up()
    {
        base::end_if_stopped();
        if (campaign_.stop_requested()) throw Stopped{};
        if (!progress_.due()) return;
        const Standing standing = standing_of(campaign_, options_.driver.retries);
        progress_.show(standing.fraction(), base::join(standing.text(), ", ", standing.running, " running"));
    }

    struct Tries {
        std::size_t left = 0;
        int without_progress = 0;
    };

    const CampaignDirectory& campaign_;
    const SlurmOptions& options_;
    std::string name_;
    base::Progress progress_;
    std::map<int, Tries> tries_;
};

}  // namespace

std::string job_name(const CampaignDirectory& campaign)
{
    const std::string path = campaign.path().string();
    base::Fnv1a hash;
    hash.add(std::as_bytes(std::span{path}));
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "crosstalk-%08x", static_cast<unsigned>(hash.value() >> 32U));
    return text.data();
}

Words site_words(const fs::path& file)
{
    Words words;
    if (file.empty()) return words;
    constexpr std::string_view mark = "#SBATCH ";
    std::istringstream lines{base::read_whole(file)};
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(mark)) continue;
        const Words more = boost::program_options::split_unix(line.substr(mark.size()));
        words.insert(words.end(), more.begin(), more.end());
    }
    return words;
}

int drive_by_jobs(const CampaignDirectory& campaign, const SlurmOptions& options)
{
    if (!found_on_path("sbatch")) base::unavailable("Slurm is not installed: no sbatch on PATH");
    JobDriver driver{campaign, options};
    try {
        driver.drive();
    } catch (const Stopped&) {
        driver.cancel_pending();
        driver.cancel();
        base::warn("stopped; to continue: crosstalk campaign run ", campaign.path().string());
    }
    return print_outcome(campaign, options.driver);
}

}  // namespace crosstalk
