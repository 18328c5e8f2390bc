// The verdict: what may run beside the training, and whether the run's controls allow to believe it.
#pragma once

#include "analysis/analyse.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

struct Control {
    Mean percent;
    Interval interval;  // at the confidence of the report
    double true_percent = 0.0;
    bool holds = true;      // false: a reason for distrust
    bool connected = true;  // false: the training did nothing of it, so there is no truth
    bool judged = true;     // false: shown only
};

struct FactorVerdict {
    std::string factor;
    std::string level;
    std::string stressor;
    Kind kind = Kind::alone;
    std::string verdict;  // safe, unsafe, undecided
    double percent = 0.0;
    Interval interval;
    double p_holm = 1.0;
    double minutes_missing = 0.0;  // of an undecided one; minutes_missing_limit: that many or more
    std::string cause;             // a sentence
    std::string phase;             // that carries most of the effect; empty if no effect was found
    std::string setting;           // of Slurm or of the node, to act on
};

constexpr double minutes_missing_limit = 1440.0;

struct VerdictRules {
    double budget_percent = 1.0;
    double confidence = 0.95;
};

struct Verdict {
    bool trustworthy = true;
    bool covered = true;               // noise was there when and where it had to be
    std::vector<std::string> reasons;  // why not trustworthy
    double budget_percent = 1.0;
    double confidence = 0.95;
    double quiet_step_ms = 0.0;
    std::optional<Control> placebo;
    std::optional<Control> delay;        // against the sham
    std::optional<Control> sham;         // against quiet: what the control costs; has no truth and is not judged
    std::optional<Control> pause;        // not judged where the training computes while it is stopped
    std::vector<FactorVerdict> factors;  // each level; controls left out
};

// promises_broken: from join(). Controls are distrusted beyond 99.9 % only: two at 95 % would mark one honest report in
// ten.
Verdict verdict(const DesignedRun& run, const Analysis& analysis, const std::vector<std::string>& promises_broken,
                const VerdictRules& rules);

// "safe" if the interval ends below the budget, "unsafe" if it begins above it, else "undecided".
std::string judge(const Interval& interval, double budget_percent);

// Minutes until an interval as wide as these blocks promise would lie on one side of the budget, if the estimate stayed
// where it is. 0 if it does already; at most minutes_missing_limit.
double minutes_missing(const Mean& percent, double confidence, double budget_percent, double block_minutes);

// What the control delay truly was: mean of region control_delay on rank 0 in used steps wholly under control.delay, in
// percent of the quiet mean step. Empty if the region was never recorded.
std::optional<double> true_delay_percent(const DesignedRun& run, const Analysis& analysis);

// What the control pause truly was: mean stopped time in used steps wholly under control.pause, over ranks, in percent
// of the quiet mean step. Empty if nothing was stopped.
std::optional<double> true_pause_percent(const DesignedRun& run, const Analysis& analysis);

}  // namespace analysis
