// SPDX-License-Identifier: Apache-2.0
// Makes one verdict from several runs of one design, or from several parts of one run.
#pragma once

#include "analysis/conclude/verdict.hpp"
#include "analysis/estimate/random_effects.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// One training with its noise, analysed separately.
struct AnalysedPart {
    std::string name;
    const Analysis* analysis = nullptr;
    const Verdict* verdict = nullptr;
};

// A run and its added parts.
using AnalysedRun = std::vector<AnalysedPart>;

struct PooledEffect {
    Effect effect;  // percent: pooled over all runs; p: of that estimate's t test; the rest as for a single run
    std::vector<Mean> runs;   // [run]: mean over the run's parts, which are strata
    std::vector<Mean> parts;  // effects of the parts of all runs, in order

    // Set with several runs: effect.percent is then the mean of the random effects, and holds for other runs of this
    // design.
    std::optional<RandomEffects> between;
    double p_alike = 1.0;  // of Welch's test that all runs, or all parts of a single run, have the same true effect
};

struct PooledRuns {
    std::vector<PooledEffect> effects;  // effects on steps and measures that all parts have; p_holm is set
    // Effects on the parts of each rank's step and on its own work. Runs have the same weights as in the effect on the
    // job's step, so that parts add up to it.
    EffectTable parts;
    Verdict verdict;
};

// Pools one or more runs, each of one or more parts. Parts are weighted by the time of their blocks. Runs are random
// draws, so the interval of several runs includes differences between them; that of a single run does not include
// differences between its parts. A control's estimate is pooled over all parts; a control whose 99.9 % interval
// excludes the truth in any part is a reason for distrust.
PooledRuns pool(const std::vector<AnalysedRun>& runs, const VerdictRules& rules);

}  // namespace analysis
