// SPDX-License-Identifier: Apache-2.0
// One verdict from several runs of one design, or from several parts of one run.
#pragma once

#include "analysis/conclude/verdict.hpp"
#include "analysis/estimate/random_effects.hpp"

#include <optional>
#include <string>
#include <vector>

namespace analysis {

// One training with the noise beside it, analysed separately.
struct AnalysedPart {
    std::string name;
    const Analysis* analysis = nullptr;
    const Verdict* verdict = nullptr;
};

// A run and the parts that were added to it.
using AnalysedRun = std::vector<AnalysedPart>;

struct PooledEffect {
    Effect effect;            // percent: of all runs; p: of its t test; the rest as in a single run
    std::vector<Mean> runs;   // [run]: mean over its parts, which are strata
    std::vector<Mean> parts;  // of all runs, in order

    // With several runs effect.percent is its mean, and holds for other runs of this kind.
    std::optional<RandomEffects> between;
    double p_alike = 1.0;  // Welch's test that all runs, or the parts of the one run, have the same true effect
};

struct PooledRuns {
    std::vector<PooledEffect> effects;  // of steps and measures, that all parts have; p_holm set
    // Effects on the parts of each rank's step and on its own work. Runs weigh as in the effect on the job's step, so
    // that parts add up to it.
    EffectTable parts;
    Verdict verdict;
};

// Parts of a run weigh as many blocks as they have: the interval of one run holds nothing of what changes between its
// parts. Runs are random draws: the interval of several holds it. A control is as it came out over all; one whose
// 99.9 % interval leaves out the truth in any part is a reason for distrust. At least one run with one part.
PooledRuns pool(const std::vector<AnalysedRun>& runs, const VerdictRules& rules);

}  // namespace analysis
