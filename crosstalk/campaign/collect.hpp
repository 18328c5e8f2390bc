// SPDX-License-Identifier: Apache-2.0
// Results of a campaign's runs: one table, effects against each block's quiet runs, and the runs left out.
#pragma once

#include "base/statistics.hpp"
#include "crosstalk/campaign/directory.hpp"

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace crosstalk {

// A run that counts.
struct CollectedRun {
    PlannedRun run;
    std::string hosts;  // "n1 n2"
    std::string started;
    int attempt = 1;
    std::size_t steps = 0;  // of all ranks, after the warm-up, as the next
    double step_ms = 0.0;   // mean
    double median_step_ms = 0.0;
    double bytes_per_s = 0.0;  // of the noise, all its CPUs together
    double operations_per_s = 0.0;
    std::optional<double> effect_percent;  // against its block's quiet runs; none if it is one, or there are none
};

// A treatment of a training over all blocks.
struct CollectedEffect {
    PlannedRun of;  // what is the same in its runs
    std::size_t blocks = 0;
    double effect_percent = 0.0;
    std::optional<base::Interval> interval;  // 95 %, from Student's t over blocks; none for fewer than two
    double p_holm = 1.0;                     // over all effects of the campaign
    std::string verdict;                     // safe, unsafe, undecided
    std::string comparison;                  // page of interference compare beside the report, or empty
};

// Effect of a factor by a designed run.
struct DesignedEffect {
    PlannedRun run;
    std::string factor;
    double effect_percent = 0.0;
    double low_percent = 0.0;
    double high_percent = 0.0;
    std::string verdict;
    bool trustworthy = false;
};

struct LeftOut {
    PlannedRun run;
    int attempt = 0;  // 0: not tried yet
    std::string reason;
};

struct Collection {
    std::vector<CollectedRun> runs;
    std::vector<CollectedEffect> effects;
    std::vector<DesignedEffect> designed;
    std::vector<LeftOut> left_out;
};

// Throws Error if no run counts, or one that counts is damaged.
Collection collect(const CampaignDirectory& campaign);

// The lengths of all ranks' steps from `warmup` on, in ms: each lasts until the next one of its rank begins, for
// throughput is lost between steps as well; the last one until its end. `steps` is a steps.csv.
std::vector<double> cycles_ms(const std::filesystem::path& steps, int warmup);

// From the runs' mean steps: the effect of each in its block, and of each treatment. Fills in effect_percent.
std::vector<CollectedEffect> effects_of(std::vector<CollectedRun>& runs, double budget_percent);

// Writes tables, page, and a comparison of interference for each effect where it is there: DIR/report, in the place of
// an earlier one.
void write_report(const CampaignDirectory& campaign, Collection& collection);

// One line per effect.
void print_effects(std::ostream& out, const Collection& collection);

// index.html: all of it on one page; and its plot, effects.svg with script and data.
void write_page(const std::filesystem::path& folder, const CampaignDirectory& campaign, const Collection& collection);

}  // namespace crosstalk
