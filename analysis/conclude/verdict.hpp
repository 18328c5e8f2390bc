// SPDX-License-Identifier: Apache-2.0
// The verdict: which noise may run with the training, and whether the run's controls make it trustworthy.
#pragma once

#include "analysis/conclude/advice.hpp"
#include "analysis/conclude/cause.hpp"
#include "analysis/conclude/controls.hpp"
#include "analysis/conclude/forecast.hpp"
#include "analysis/estimate/analyse.hpp"
#include "base/contract/verdict_words.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace analysis {

struct FactorVerdict {
    std::string factor;
    std::string level;
    std::string stressor;
    Kind kind = Kind::alone;
    std::string verdict;  // safe, unsafe, undecided, insensitive, untrusted
    std::string why;      // why the noise is neither safe nor unsafe
    Mean percent;
    Interval interval;
    Interval at_worst;         // see Effect::at_worst
    Interval at_least;         // see Effect::at_least
    double confidence = 0.95;  // confidence of `interval`
    double p_holm = 1.0;
    std::optional<Forecast> forecast;  // of an undecided noise with enough blocks
    Cause cause;
    Advice setting;  // setting of Slurm or of the node that an operator can make

    // True if there is no answer although the run can be trusted.
    bool is_open() const
    {
        return verdict == base::verdict_word::undecided || verdict == base::verdict_word::insensitive;
    }
};

struct VerdictRules {
    double budget_percent = 1.0;
    double confidence = 0.95;
    // If the run was checked repeatedly while it ran, `confidence` is that of all verdicts together.
    Looks looks = Looks::none;
    // Reasons in the noise's records why no noise can be called safe; `lacked`: why the noise of this factor and level
    // cannot.
    std::vector<std::string> insensitive{};
    std::map<std::pair<std::string, std::string>, std::string> lacked{};
};

// With fewer blocks, their spread is known too badly for intervals that are valid at every check.
constexpr int blocks_before_first_look = 10;

struct Verdict {
    bool observed = false;  // the noise had no design: nothing is judged, and `reasons` lists possible confounders
    bool trustworthy = true;
    bool fixed_order = false;  // slots are not in random order: no noise is unsafe
    // Noise was on, on each node, during 90 % of the training's time after warm-up, and ran in 90 % of its assigned
    // time.
    bool covered = true;
    std::vector<std::string> reasons;      // why the run is not trustworthy
    std::vector<std::string> insensitive;  // why the run could not have shown any slowdown
    std::vector<std::string> recorded;     // the entries of `insensitive` that come from VerdictRules::insensitive
    // VerdictRules::lacked, and noises with harm that their effect does not include.
    std::map<std::pair<std::string, std::string>, std::string> lacked;
    double budget_percent = 1.0;
    double confidence = 0.95;
    // The highest confidence of a verdict's interval: above `confidence` if the run ended when decided.
    double confidence_each = 0.95;
    Looks looks = Looks::none;
    double quiet_step_ms = 0.0;
    double run_minutes = 0.0;  // length of the training
    // The part of the delay that GPUs absorb; none if they were not recorded, or there is no true delay.
    std::optional<Absorbed> absorbed;
    // Every control of the schedule is judged. If there are several of one kind, this is the first that fails, or else
    // the first.
    std::optional<Control> placebo;
    std::optional<Control> delay;  // effect against the sham
    std::optional<Control> sham;   // effect against quiet, the cost of the control; it has no truth and is not judged
    std::optional<Control> pause;  // not judged where the training continues to compute while it is stopped
    std::vector<FactorVerdict> factors;  // one for each level; without controls

    // Returns the verdict on a factor at a level; null if there is none.
    const FactorVerdict* of(const std::string& factor, const std::string& level) const
    {
        const auto found = std::find_if(factors.begin(), factors.end(), [&](const FactorVerdict& judged) {
            return judged.factor == factor && judged.level == level;
        });
        return found == factors.end() ? nullptr : &*found;
    }

    bool says(const char* word, const std::string& factor, const std::string& level) const
    {
        const FactorVerdict* judged = of(factor, level);
        return judged && judged->verdict == word;
    }
};

// The verdict on a run. promises_broken: from join(). A control is distrusted if its 99.9 % interval excludes the
// truth; with 95 %, two controls would mark one honest report in ten.
Verdict verdict(const DesignedRun& run, const Analysis& analysis, const std::vector<std::string>& promises_broken,
                const VerdictRules& rules);

// Confidence of each verdict's interval. A run that ends once all verdicts are decided divides its error probability
// equally among them; a verdict decided at its share passes the share on to the others (Holm 1979). If
// intervals are valid at every check, this may be done at each check.
std::vector<double> confidences(const std::vector<Mean>& effects, const VerdictRules& rules);

// The effects that get a verdict: one of each treatment, of the kind by which it is judged.
std::vector<const Effect*> judged_effects(const Analysis& analysis);

// The verdict on an effect before it is judged: its numbers.
FactorVerdict numbers_of(const Effect& effect, double confidence);

// Sets the verdict on an effect, and the reason. Unsafe: the interval lies above the budget. Safe: the run is
// trustworthy and found its positive control, the half width of the interval is at most the budget, steps of each
// stratum ran under the noise, and the upper bound is below the budget even with accidents and carry-over. An interval
// below zero is not safe either: noise should not speed a training up.
void judge(FactorVerdict& factor, const Effect& effect, const Verdict& verdict);

// True if every judged noise is safe or unsafe.
bool decided(const Verdict& verdict);

using base::judge;

}  // namespace analysis
