// SPDX-License-Identifier: Apache-2.0
// Effects: what each factor costs the step, each phase and each rank, with intervals over blocks.
#pragma once

#include "analysis/estimate/assigned/exposure.hpp"
#include "analysis/estimate/contrasts.hpp"
#include "analysis/estimate/estimator.hpp"
#include "analysis/estimate/inference.hpp"
#include "analysis/estimate/rerandomise.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace analysis {

constexpr int all_ranks = -1;

// The kind of quantity that an effect is on. Families are corrected for their number, pooled and shown apart.
enum class Family {
    step,      // the step and its phases, of the job and of each rank
    measure,   // of the job: the split of the step by its buckets, the median step, outliers, tails
    part,      // of each rank's step: `phase` is one of part_names
    own_work,  // of each rank: `phase` is one of Work::regions
    gpu,       // of the job: `phase` is one of GpuWork::names
    evidence,  // of the job: `phase` is one of Evidence::names
};

struct Effect {
    Family family = Family::step;
    std::string factor;
    std::string level;
    std::string stressor;  // empty for an interaction
    base::Role role = base::Role::treatment;
    std::string phase;  // a phase, "step", or another measure's name
    int rank = all_ranks;
    Kind kind = Kind::alone;
    Mean percent;  // of the rank's quiet mean step
    // The job's step with accidents and carry-over, whether they count in `percent` or not: a noise is acquitted only
    // by this interval. For other measures as `percent`.
    Mean at_worst;
    // The job's step, nothing assumed and nothing left out: with all accidents, and with recurring long steps as
    // frequent under the noise as they were. Else as `percent`.
    Mean whole;
    // Where carry-over counts: the direct effect or what is left in one slot, whichever is more. Their sum is what a
    // noise costs that is on all the time if each slot adds its own; a state that it brings about (cold caches) costs
    // no more than that. Else as `percent`. A noise is unsafe only if this and `whole` exceed the budget, too.
    Mean at_least;
    bool lacks_a_stratum = false;  // no step of some stratum began under it: what noise does to those is unknown
    double p = 1.0;          // re-randomisation, or t test where the order was not random or labels cannot be exchanged
    double p_holm = 1.0;     // over factors x phases of the same rank
    Smallest smallest_p{};   // that the test could have given
    std::int64_t steps = 0;  // used, and mostly under a treatment with the factor
};

// Do accidents count in a contrast with these weights? If they are charged to any of its treatments.
bool accidents_count(const Eigen::VectorXd& weights, const LongSteps& steps);

// The estimate that all tables rest on, in percent of the quiet mean step: with the accidents that are charged to its
// treatments, and with what its noises leave in the next slot, if they last. Where either is not beyond doubt it is
// left out of the estimate, and the interval spans that of the estimate with it.
Mean estimated_percent(const Fit& fit, const Eigen::VectorXd& weights, Eigen::Index measure, const StepsOf& steps);
// With accidents, whether they count or not; with carry-over and without it, with long steps shared among the
// treatments that they meet or not, and with how frequent they were under the noise where that is more than elsewhere,
// whichever lets the noise cost most.
Mean percent_at_worst(const Fit& fit, const Eigen::VectorXd& weights);
// With accidents, whether they count or not, and with long steps as frequent under each noise as they were.
Mean whole_percent(const Fit& fit, const Eigen::VectorXd& weights, const StepsOf& steps);

// All effects of a run, the job's before those of ranks.
using EffectTable = std::vector<Effect>;

std::vector<std::reference_wrapper<const Effect>> of(const EffectTable& effects, Family family);

// names[0] is the step. Measures are linear in the steps' times with the same work shares: where phases add up to the
// step, so do their effects. Throws Error with fewer than two blocks.
EffectTable effects(const Series& series, const StepsOf& steps, const Fit& fit, const Draws& draws);

// How much slower the median step is: medians of wholly covered steps per block, otherwise as effects(). The phase is
// "median step", the family Family::measure.
EffectTable median_effects(const Series& series, const StepsOf& steps);

// Sets p_holm of Family::step: over all effects of each rank.
void adjust(EffectTable& effects);

// The effect on `phase`, or nullptr.
const Effect* find(const EffectTable& effects, const std::string& factor, const std::string& level, Kind kind,
                   const std::string& phase, int rank = all_ranks, Family family = Family::step);

// A factor that was combined with others is judged by its average over their settings, which rests on all slots.
Kind judged_kind(const EffectTable& effects, const Effect& effect);

}  // namespace analysis
