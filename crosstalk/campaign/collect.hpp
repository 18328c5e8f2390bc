// SPDX-License-Identifier: Apache-2.0
// Results of a campaign: a table of its runs, effects relative to each block's quiet runs, and the runs left out.
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
    std::size_t steps = 0;  // steps, step_ms, median_step_ms: of all ranks, after the warm-up
    double step_ms = 0.0;   // mean
    double median_step_ms = 0.0;
    double bytes_per_s = 0.0;  // the noise's rate, summed over its CPUs
    double operations_per_s = 0.0;
    std::optional<double> effect_percent;  // relative to its block's quiet runs; none for quiet runs or without any
};

// Effect of a treatment on a training, over all blocks.
struct CollectedEffect {
    PlannedRun of;  // the values that its runs have in common
    std::size_t blocks = 0;
    double effect_percent = 0.0;
    std::optional<base::Interval> interval;  // 95 %, Student's t over blocks; none for a single block
    double p_holm = 1.0;                     // over all effects of the campaign
    std::string verdict;                     // safe, unsafe, undecided
    std::string comparison;                  // name of the comparison page in the report's folder, or empty
};

// Effect of a factor from a designed run.
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

// Throws Error if no run counts, or if one that counts is damaged.
Collection collect(const CampaignDirectory& campaign);

// Cycle times of all ranks' steps from `warmup` on, in ms: from the start of a step to the start of the rank's next
// step, since throughput is also lost between steps; the last one to its end. `steps` is the path of a steps.csv.
std::vector<double> cycles_ms(const std::filesystem::path& steps, int warmup);

// The effect of each treatment, from the runs' mean step times. Fills in effect_percent of each run relative to its
// block.
std::vector<CollectedEffect> effects_of(std::vector<CollectedRun>& runs, double budget_percent);

// Puts effects into the order of the spec's trainings, noises, levels and numbers of cores.
void order_as_in(const Spec& spec, std::vector<CollectedEffect>& effects);

// Writes DIR/report with tables, a page and, if interference is installed, a comparison for each effect. Replaces an
// earlier report.
void write_report(const CampaignDirectory& campaign, Collection& collection);

// Prints one line per effect.
void print_effects(std::ostream& out, const Collection& collection);

// Writes index.html with the whole report, and its plot effects.svg with script and data.
void write_page(const std::filesystem::path& folder, const CampaignDirectory& campaign, const Collection& collection);

}  // namespace crosstalk
