// SPDX-License-Identifier: Apache-2.0
// The verdict: what may run beside the training, and whether the run's controls allow to believe it.
#pragma once

#include "analysis/conclude/advice.hpp"
#include "analysis/conclude/cause.hpp"
#include "analysis/conclude/forecast.hpp"
#include "analysis/estimate/analyse.hpp"
#include "base/contract/verdict_words.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

struct Control {
    Mean percent;
    Interval interval;  // at the confidence of the report
    double true_percent = 0.0;
    bool holds = true;      // false: a reason for distrust
    bool found = true;      // of a delay or pause: its interval leaves out zero and holds the truth
    bool connected = true;  // false: the training did nothing of it, so there is no truth
    bool judged = true;     // false: shown only
    // Share of the host's delay in which GPUs computed. So much of it at most may be absorbed by work that was
    // queued, and not be seen in the step.
    double covered_percent = 0.0;
    double least_true_percent() const { return true_percent * (1.0 - covered_percent / 100.0); }
};

struct FactorVerdict {
    std::string factor;
    std::string level;
    std::string stressor;
    Kind kind = Kind::alone;
    std::string verdict;  // safe, unsafe, undecided, insensitive, untrusted
    std::string why;      // it is not safe, of a noise that is not unsafe either
    double percent = 0.0;
    Interval interval;
    Interval at_worst;         // see Effect::at_worst
    Interval at_least;         // see Effect::at_least
    double confidence = 0.95;  // of the interval
    double p_holm = 1.0;
    std::optional<Forecast> forecast;  // of an undecided one with enough blocks
    Cause cause;
    Advice setting;  // of Slurm or of the node, to act on
};

struct VerdictRules {
    double budget_percent = 1.0;
    double confidence = 0.95;
    bool looked = false;  // the run may have been ended at a look: all verdicts together then have this confidence
    // Why nothing can be called safe, and why a noise, by factor and level, cannot: from the records of the noise.
    std::vector<std::string> insensitive{};
    std::map<std::pair<std::string, std::string>, std::string> lacked{};
};

// Before that the spread of the blocks is known too badly for intervals that hold at all looks.
constexpr int blocks_before_first_look = 10;

struct Verdict {
    bool observed = false;  // nobody designed the noise: nothing is judged, the reasons say what could confound
    bool trustworthy = true;
    bool covered = true;                   // noise was on each node, during 90 % of the training's time after its
                                           // warm-up, and really ran in 90 % of the time in which it was assigned
    std::vector<std::string> reasons;      // why not trustworthy
    std::vector<std::string> insensitive;  // why the run could not have seen any slowdown
    std::vector<std::string> recorded;     // of those the ones from records: VerdictRules::insensitive
    // As VerdictRules::lacked, and of noises that do harm where their effect does not hold it.
    std::map<std::pair<std::string, std::string>, std::string> lacked;
    double budget_percent = 1.0;
    double confidence = 0.95;
    double confidence_each = 0.95;  // the highest of a verdict's interval: more than that where the run ended at a look
    bool looked = false;
    double quiet_step_ms = 0.0;
    double run_minutes = 0.0;  // length of the training
    // Every control of the schedule is judged; of several of a kind the first that fails is here, else the first.
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

// Confidence of each verdict's interval. A run that ends when all verdicts are decided shares its chance of error among
// them, step by step (Holm 1979): equally among all, then what is decided at that leaves its share to the others.
// Intervals that hold at all looks allow it at each look.
std::vector<double> confidences(const std::vector<Mean>& effects, const VerdictRules& rules);

// The effects that get a verdict: of treatments, each by the kind it is judged by.
std::vector<const Effect*> judged_effects(const Analysis& analysis);

// The word for an effect, and why. Unsafe needs no more than an interval above the budget. Safe needs a trustworthy run
// that found its positive control, an interval whose half width is at most the budget, steps of each stratum beside the
// noise, and an upper bound below the budget also with accidents and carry-over. An interval below zero is not safe
// either: noise should not speed a training up.
void judge(FactorVerdict& factor, const Effect& effect, const Verdict& verdict);

// Is every judged noise safe or unsafe?
bool decided(const Verdict& verdict);

// How much of a delay of the host is not in the step, in percent of the delay, with its interval. Needs a truth above
// 0.
struct Absorbed {
    double percent = 0.0;
    double low_percent = 0.0;
    double high_percent = 0.0;
};
Absorbed absorbed_of(const Control& delay);

// At 99.9 %: does the control's interval leave out its truth? Of a delay that may be absorbed the truth is all from the
// least that must be seen up to the delay.
bool contradicts(const Control& control);

// Has the run found the slowdown that the control is known to be? Sets `found`.
void look_for(Control& control);

using base::judge;

}  // namespace analysis
